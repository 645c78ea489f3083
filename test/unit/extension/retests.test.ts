import assert from 'node:assert/strict';
import { lineLimit } from '../../../src/extension/dialogs/dialog';
import { adjudicateDialog, concludeDialog, endDialog, reopenDialog, retestOutcome, type RetestQuestion } from '../../../src/extension/dialogs/retestDialogs';
import { planTitle } from '../../../src/extension/dialogs/undoDialog';
import { auditText } from '../../../src/extension/planPreview/auditText';
import { transcriptText } from '../../../src/extension/text/transcriptText';
import { historyRows, retestRows } from '../../../src/extension/views/retestRows';
import type { FindingVerdict, RetestChangeReply, RetestListReply, RetestRow, RetestShowReply, VerdictRecord } from '../../../src/protocol/retest';
import { itemReply, planReply } from '../../support/replies';

const place = { cwd: '/loops', stateRoot: '/state' };
const around = { now: new Date('2026-11-30T12:00:00Z'), home: '/home/dev' };
const { now } = around;

const verdict = (given: Partial<VerdictRecord> = {}): VerdictRecord => ({
  seq: 9, ts: '2026-08-04T14:02:00Z', kind: 'verdict', actor: 'agent', status: 'fixed', rationale: 'login rejects the payload', state: 'current', withdrawn: null, ...given,
});
const determination = (given: Partial<FindingVerdict> = {}): FindingVerdict => ({ session: 'S-4', seq: 9, status: 'fixed', rationale: 'login rejects the payload', actor: 'agent', ts: '2026-08-04T14:02:00Z', ...given });
const current = { seq: 9, status: 'fixed' as const, rationale: 'login rejects the payload', actor: 'agent' as const, evidence: null };
const sessionRow = (given: Partial<RetestRow> = {}): RetestRow => ({
  session: 'S-4', finding: 'F-12', status: 'concluded', currentVerdict: current, endedAt: null, adjudicated: false, withdrawn: 0, startedAt: '2026-08-04T13:00:00Z', lastActivity: '2026-08-04T14:02:00Z',
  events: 10, problems: [], attention: [], path: '/state/loopkeeper/retest/S-4.jsonl', ...given,
});
const list = (sessions: RetestRow[], shows: FindingVerdict | null = determination()): RetestListReply => ({
  verb: 'retest-list', stateRoot: '/state', sessions, warnings: [],
  findings: [{ finding: 'F-12', determination: shows, sessions: sessions.filter(({ finding }) => finding === 'F-12').map(({ session }) => session) }],
});
const show = (given: Partial<RetestShowReply> = {}): RetestShowReply => ({
  verb: 'retest-show', session: 'S-4', finding: 'F-12', status: 'concluded', currentVerdict: current, endedAt: null, history: [], adjudicated: false, goal: [], scope: [], determination: determination(), without: null,
  verdicts: [verdict()], problems: [], events: 10, startedAt: null, lastActivity: null, attention: [], path: '/state/loopkeeper/retest/S-4.jsonl', warnings: [], ...given,
});
const change = (given: Partial<RetestChangeReply> = {}): RetestChangeReply => ({
  ...planReply([itemReply({ ref: 'S-4' })], { verb: 'retest-reopen' }), session: 'S-4', finding: 'F-12', appended: [], closed: null,
  after: { status: 'idle', currentVerdict: null, endedAt: null, history: [], adjudicated: false, goal: [], scope: [] }, determination: { before: determination(), after: null }, path: '/p', ...given,
});
const question = (given: Partial<RetestQuestion> = {}): RetestQuestion => ({ plan: change(), session: show(), changed: [], now, ...given });
/** Times of day are told in the reader's own zone. */
const time = /\w+ \d+, 2026, \d+:\d+\s[AP]M/;

describe('the rows of retests', () => {
  it('are findings with what they show, and their sessions below', () => {
    const [finding] = retestRows(list([sessionRow()]), place, around);
    assert.deepEqual([finding?.label, finding?.description, finding?.icon], ['F-12', 'fixed (agent) · Aug 4', 'pass-filled']);
    assert.equal(finding?.spoken, 'Finding F-12: fixed (agent) · Aug 4');
    const children = typeof finding?.children === 'object' ? finding.children : [];
    assert.deepEqual(children.map(({ label, description }) => [label, description]), [['S-4', 'concluded · fixed (agent) · Aug 4']]);
    assert.deepEqual(children[0]?.words, ['retest', 'concluded', 'verdict']);
    assert.equal(children[0]?.children, 'later');
    assert.equal(children[0]?.opens, 'loopkeeper.openTranscript');
  });

  it('say that no verdict stands after a reopen, how many were withdrawn, and what is still open', () => {
    const [finding] = retestRows(list([sessionRow({ status: 'idle', currentVerdict: null, withdrawn: 2 })], null), place, around);
    assert.deepEqual([finding?.description, finding?.icon], ['no verdict · 1 session open', 'circle-outline']);
    const children = typeof finding?.children === 'object' ? finding.children : [];
    assert.equal(children[0]?.description, 'idle · 2 verdicts withdrawn · Aug 4');
    assert.deepEqual(children[0]?.words, ['retest', 'open', 'idle']);
  });

  it('have the words by which a command is offered only where it can be done', () => {
    const wordsOf = (given: Partial<RetestRow>) => {
      const [finding] = retestRows(list([sessionRow(given)]), place, around);
      return typeof finding?.children === 'object' ? finding.children[0]?.words : [];
    };
    assert.deepEqual(wordsOf({ currentVerdict: null }), ['retest', 'concluded']);
    assert.deepEqual(wordsOf({ status: 'ended', currentVerdict: null }), ['retest', 'over']);
    assert.deepEqual(wordsOf({ status: 'working', currentVerdict: null }), ['retest', 'open']);
    assert.deepEqual(wordsOf({ unreadable: 'it is a link' }), ['retest', 'unreadable']);
  });

  it('mark what needs a person, and a session of no finding comes by itself', () => {
    const asks = { kind: 'asks-you' as const, since: null, sentence: 'A command waits for your approval.', command: '' };
    const rows = retestRows(list([sessionRow({ status: 'awaiting_command', currentVerdict: null, attention: [asks] }), sessionRow({ session: 'X', finding: null })]), place, around);
    assert.equal(rows[0]?.spoken, 'Finding F-12: fixed (agent) · Aug 4, 1 session open. Needs you: A command waits for your approval.');
    assert.deepEqual(rows.map(({ label }) => label), ['F-12', 'X']);
    const first = typeof rows[0]?.children === 'object' ? rows[0].children[0] : undefined;
    assert.equal(first?.icon, 'question');
    assert.ok(first?.words.includes('attention'));
  });

  it('of a history have the latest first, the withdrawn ones marked, and what is wrong with the transcript', () => {
    const rows = historyRows(show({
      verdicts: [verdict({ state: 'withdrawn', withdrawn: { seq: 12, ts: '2026-08-05T09:00:00Z', actor: 'operator', reason: 'too early' } }), verdict({ seq: 15, status: 'still_open', actor: 'operator', kind: 'verdict_adjudicated' })],
      problems: [{ line: 17, kind: 'torn-tail' }],
    }), place, around);
    assert.deepEqual(rows.map(({ label, description, icon }) => [label, description, icon]), [
      ['still open', 'operator · Aug 4 · stands, adjudicated', 'bug'],
      ['fixed', 'agent · Aug 4 · withdrawn Aug 5', 'discard'],
      ['The last line was cut', 'line 17', 'warning'],
    ]);
    assert.equal(rows[1]?.subject.seq, 9);
    assert.match(rows[1]?.tooltip?.facts.find(({ name }) => name === 'Withdrawn')?.value ?? '', /^operator, .+: too early$/);
  });

  it('show foreign text as text', () => {
    const [finding] = retestRows({ ...list([]), findings: [{ finding: 'F\u202e\n$(x)', determination: null, sessions: [] }] }, place, around);
    assert.equal(finding?.label, 'F\\u202e\\n$(x)');
  });
});

describe('the questions about a retest', () => {
  it('before a reopen read as in the design', () => {
    const plan = change({ determination: { before: determination(), after: determination({ session: 'S-3', seq: 4, status: 'still_open', ts: '2026-07-12T08:00:00Z' }) } });
    const dialog = reopenDialog(question({ plan }));
    assert.equal(dialog.message, 'Reopen the retest of F-12 and withdraw its verdict?');
    assert.deepEqual(dialog.detail.replace(time, 'WHEN').split('\n'), [
      'Withdrawn: "fixed" (agent, WHEN), "login rejects the payload". It stays in the transcript and history, marked withdrawn.',
      'The finding then shows "still open" (session S-3, Jul 12). Goal and scope stay; nothing runs until it is woken. No Undo: the transcript never shrinks.',
    ]);
    assert.deepEqual([dialog.apply, dialog.whole], ['Reopen', true]);
  });

  it('say when another session\'s verdict goes on standing, when none stands, and when there is none to withdraw', () => {
    const other = determination({ session: 'S-3', seq: 4 });
    assert.match(reopenDialog(question({ plan: change({ determination: { before: other, after: other } }) })).detail, /^The finding goes on showing "fixed" \(session S-3, Aug 4\)\./m);
    assert.match(reopenDialog(question()).detail, /^The finding then shows no verdict\./m);
    const bare = reopenDialog(question({ session: show({ currentVerdict: null, verdicts: [] }) }));
    assert.equal(bare.message, 'Reopen the retest of F-12?');
    assert.match(bare.detail, /there is none to withdraw/);
  });

  it('tell what changed, a torn line that is closed, and warnings, in at most twelve lines', () => {
    const plan = change({ items: [itemReply({ ref: 'S-4', notices: [{ kind: 'torn-tail', message: 'The last line was cut.' }] })], warnings: Array.from({ length: 20 }, (_, index) => ({ kind: 'x', message: `w${String(index)}` })) });
    const { detail } = reopenDialog(question({ plan, changed: ['what the plan rests on'] }));
    assert.match(detail, /^Changed while you were reading: what the plan rests on\./);
    assert.match(detail, /^The last line was cut\.$/m);
    assert.equal(detail.split('\n').length, lineLimit);
  });

  it('before a conclusion, an acceptance, an override and an end name what is recorded and what stays', () => {
    const after = { before: null, after: determination() };
    const conclude = concludeDialog(question({ plan: change({ determination: after }), session: show({ status: 'idle', currentVerdict: null, verdicts: [] }) }), 'fixed', 'gone');
    assert.equal(conclude.message, 'Conclude the retest of F-12 as "fixed"?');
    assert.match(conclude.detail, /^Recorded: "fixed", "gone"\.\nThe finding then shows "fixed"\.\nReopen withdraws it again/);
    const accept = adjudicateDialog(question({ plan: change({ determination: after }) }), 'fixed', 'agreed');
    assert.deepEqual([accept.message, accept.apply], ['Accept "fixed" as the verdict on F-12?', 'Accept']);
    const override = adjudicateDialog(question({ plan: change({ determination: after }) }), 'still_open', 'no');
    assert.deepEqual([override.message, override.apply], ['Override the verdict on F-12 with "still open"?', 'Override']);
    assert.match(override.detail, /^Superseded: "fixed" \(agent, .+\), "login rejects the payload"\. It stays in the transcript and history\./);
    const end = endDialog(question({ session: show({ status: 'working', currentVerdict: null }) }));
    assert.match(end.detail, /^Session S-4 is working\. It takes no more commands and cannot be reopened/);
  });

  it('show a hostile rationale as text, short', () => {
    const { detail } = concludeDialog(question(), 'fixed', `x\u202e\n${'y'.repeat(5000)}`);
    assert.match(detail, /"x\\u202e\\ny+…"/);
    assert.ok(detail.length < 1000);
  });
});

describe('what is said after a command on a retest', () => {
  const sentence = (verb: string, more: Partial<RetestChangeReply> = {}) => retestOutcome(change({ verb, ...more })).sentence;
  it('is one sentence, and offers no Undo', () => {
    assert.equal(sentence('retest-reopen'), 'The retest of F-12 is reopened; its verdict is withdrawn and stays in the history.');
    assert.equal(sentence('retest-conclude', { after: { ...change().after, currentVerdict: current } }), 'The retest of F-12 is concluded: "fixed".');
    assert.match(sentence('retest-message', { prompt: 'go' }), /No agent is started yet/);
    assert.equal(sentence('retest-message'), 'The message to session S-4 is recorded.');
    assert.equal(retestOutcome(change()).undoable, false);
    assert.equal(retestOutcome(change({ items: [itemReply({ ref: 'S-4', errors: [{ kind: 'io', message: 'no space' }] })] })).failed, true);
    assert.equal(planTitle({ verb: 'retest-reopen', items: ['S-4'] }), 'Reopen the retest S-4');
  });
});

describe('a transcript as it is read', () => {
  const line = (seq: number, kind: string, payload: Record<string, unknown>): string => JSON.stringify({ seq, ts: '2026-08-04T14:02:00Z', kind, actor: 'agent', payload }) + '\n';
  it('has a block for each event, where each begins, and nothing left out', () => {
    const { text, lines } = transcriptText(line(1, 'session_started', { finding: 'F-12' }) + line(2, 'plan_updated', { steps: ['a', 'b\u202e'] }) + 'rubbish\n' + line(3, 'command_output', { exit_code: 1, output: 'one\ntwo' }));
    const shown = text.split('\n');
    assert.match(shown[0] ?? '', /^1 {2}.+ {2}agent {2}session_started$/);
    assert.deepEqual(shown.slice(1, 3), ['    finding: F-12', '']);
    assert.deepEqual(shown.slice(4, 7), ['    steps:', '      - a', '      - b\\u202e']);
    assert.ok(shown.includes('No event: rubbish'));
    assert.deepEqual(shown.slice(-4), ['    exit_code: 1', '    output: one', '      two', '']);
    for (const [seq, at] of lines) assert.match(shown[at] ?? '', new RegExp(`^${String(seq)} {2}`));
    assert.deepEqual([...lines.keys()], [1, 2, 3]);
  });

  it('tells a cut line from an event without a line feed, and a beginning that is left out', () => {
    const whole = line(1, 'x', {});
    assert.match(transcriptText(whole + '{"seq":2,"ts').text, /^The last line was cut: \{"seq":2,"ts$/m);
    assert.equal(transcriptText(whole.trimEnd()).lines.size, 1);
    const late = transcriptText(`half a line\n${line(7, 'x', {})}`, true);
    assert.match(late.text, /^The beginning of this long transcript is left out here/);
    assert.doesNotMatch(late.text, /half a line/);
    assert.match(late.text.split('\n')[late.lines.get(7) ?? -1] ?? '', /^7 /);
  });
});

describe('an audit as a document', () => {
  it('names each discrepancy, or says that there is none', () => {
    const clean = { verb: 'retest-audit' as const, stateRoot: '/state', ok: true, sessions: 2, discrepancies: [], problems: [], warnings: [] };
    assert.match(auditText(clean), /^The audit is clean[^\n]+\n2 sessions were computed anew/);
    const faulty = auditText({ ...clean, ok: false, discrepancies: [{ session: 'S-1', field: 'status', kind: 'withdrawn-verdict', message: 'stored as fixed\u202e' }], problems: [{ session: 'S-1', line: 3, kind: 'gap' }] });
    assert.match(faulty, /^The audit found 1 discrepancy\.[^]*^S-1: stored as fixed\\u202e$[^]*^S-1: line 3 of the transcript: gap$/m);
  });
});
