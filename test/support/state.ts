// Records as the-loop writes them: two spaces, a newline at the end.

const written = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function parts(ref: string): { owner: string; repo: string; number: number } {
  const [, owner = '', repo = '', number = '0'] = /([^/:]+)\/([^/#]+)#(\d+)$/.exec(ref) ?? [];
  return { owner, repo, number: Number(number) };
}

const urlOf = (ref: string): string => { const { owner, repo, number } = parts(ref); return `https://github.com/${owner}/${repo}/issues/${String(number)}`; };

export interface SessionFields { status?: string; cwd?: string; terminal?: string; id?: string; pullRequests?: Record<string, unknown>[] }

/** One conversation, as an object: a record's own, or one of its pull requests. */
export function endpoint(ref: string, { status = 'closed', cwd = '/srv/octo', terminal = '', id }: SessionFields = {}): Record<string, unknown> {
  return {
    workItem: { ref, provider: 'github', ...parts(ref) }, harness: 'claude', harnessSessionId: id ?? `0f1c5e7a-0000-4000-8000-${String(parts(ref).number).padStart(12, '0')}`, cwd, status,
    createdAt: '2026-08-04T09:00:00Z', lastEventAt: null, tmuxTarget: terminal, recentDeliveries: [], url: urlOf(ref),
  };
}

/** The text of a session record. */
export function session(ref: string, fields: SessionFields = {}): string {
  return written({ ...endpoint(ref, fields), ...(fields.pullRequests ? { pullRequests: fields.pullRequests } : {}) });
}

/** The text of a portable record with these sections. */
export function portable(ref: string, sections: Record<string, unknown>): string {
  return written({ ref, url: urlOf(ref), ...sections });
}

export function control(ref: string, command = 'start'): Record<string, unknown> {
  return { ref, command, source: 'comment', actor: 'octocat', requestedAt: '2026-08-04T09:01:00Z', note: '' };
}

export function poll(...seenComments: string[]): Record<string, unknown> {
  return { seenComments, commentAttempts: {}, spawn: {}, lastPolledAt: '2026-08-04T10:00:00Z' };
}
