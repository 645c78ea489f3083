import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { diskReader } from '../../src/core/disk/reader';
import { auditRetests } from '../../src/core/retest/auditStore';
import { listRetests, showRetest } from '../../src/core/retest/report';
import { readTranscript } from '../../src/core/retest/transcript';
import { ErrorReply } from '../../src/protocol/message';
import { AuditReply, ExportReply, RetestChangeReply, RetestListReply, RetestShowReply, WakeReply } from '../../src/protocol/retest';
import type { RetestEvent } from '../../src/protocol/retest';
import { makePlace, readTree, root, runCli, type Place } from '../support/program';
import { line, putTranscript, retest, retestFolder, retestJson, sessionEvents, transcriptOf } from '../support/retest';

const F12 = ['--finding', 'F-12', '--goal', 'Replay the login bypass', '--goal', 'Then the basket', '--scope', 'http://lab:3000/rest/user/login'];
const eventsIn = (file: string) => readTranscript(fs.readFileSync(file, 'utf8')).events;

describe('loopkeeper retest', function () {
  this.timeout(120_000);
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  const stateRoot = () => path.join(place.work, '.the-loop');
  // By the core: starting the program for each look would be most of the time these tests take.
  const audit = () => AuditReply.parse(auditRetests(diskReader, stateRoot()));
  const show = (id = 'S-1') => RetestShowReply.parse(showRetest(diskReader, stateRoot(), id));
  const files = () => Object.fromEntries(Object.entries(readTree(place.top, (name) => name.endsWith('.gitignore'))).filter(([, text]) => text !== '<folder>'));

  type Refused = [args: string[], code: number, kind: string, status?: string];
  /** Each is refused with this exit code, kind and status, and no file is another than before. */
  const refused = async (...all: Refused[]) => {
    const before = files();
    for (let start = 0; start < all.length; start += 4) {
      await Promise.all(all.slice(start, start + 4).map(async ([args, code, kind, status]) => {
        const ran = await retestJson(place, args, ErrorReply);
        assert.deepEqual([args, ran.code, ran.reply.error.kind], [args, code, kind], JSON.stringify(ran.reply));
        assert.ok(ran.reply.error.message.length > 0 && ran.reply.error.hint.length > 0);
        if (status === undefined) return;
        assert.ok(ran.reply.error.message.includes(status), ran.reply.error.message);
        assert.equal((ran.reply.error.details as { status?: string }).status, status);
      }));
    }
    assert.deepEqual(files(), before);
  };

  it('start, conclude, reopen, conclude otherwise, adjudicate, reopen, end: history right and audit clean at each step, earlier bytes untouched', async () => {
    let earlier = Buffer.alloc(0);
    const step = async (args: string[], status: string, verdict: string | null, history: [string, string][], finding: string | null) => {
      const { code, reply } = await retestJson(place, args, RetestChangeReply);
      assert.equal(code, 0, JSON.stringify(reply));
      assert.equal(reply.session, 'S-1');
      assert.equal(reply.dryRun, false);
      const bytes = fs.readFileSync(transcriptOf(place, 'S-1'));
      assert.equal(createHash('sha256').update(bytes.subarray(0, earlier.length)).digest('hex'), createHash('sha256').update(earlier).digest('hex'));
      assert.equal(bytes.subarray(earlier.length).toString(), reply.appended.map(line).join(''));
      earlier = bytes;
      const seen = show();
      assert.deepEqual({ status: seen.status, verdict: seen.currentVerdict?.status ?? null, history: seen.history.map((entry) => [entry.status, entry.state]) }, { status, verdict, history });
      assert.deepEqual(reply.after, { status: seen.status, currentVerdict: seen.currentVerdict, endedAt: seen.endedAt, history: seen.history, adjudicated: seen.adjudicated, goal: seen.goal, scope: seen.scope });
      assert.deepEqual([seen.goal, seen.scope, seen.problems], [['Replay the login bypass', 'Then the basket'], ['http://lab:3000/rest/user/login'], []]);
      assert.equal(seen.determination?.status ?? null, finding);
      assert.deepEqual(reply.determination.after, seen.determination);
      const stored = JSON.parse(fs.readFileSync(path.join(retestFolder(place), 'verdicts.json'), 'utf8')) as { findings: { finding: string; status: string }[] };
      assert.deepEqual(stored.findings.map((entry) => [entry.finding, entry.status]), finding === null ? [] : [['F-12', finding]]);
      assert.ok(audit().ok);
    };
    await step(['start', ...F12], 'idle', null, [], null);
    await step(['conclude', 'S-1', '--status', 'fixed', '--rationale', 'no token', '--actor', 'agent'], 'concluded', 'fixed', [['fixed', 'current']], 'fixed');
    await step(['reopen', 'S-1', '--reason', 'the basket was never tried'], 'idle', null, [['fixed', 'withdrawn']], null);
    await step(['conclude', 'S-1', '--status', 'still_open', '--rationale', 'basket'], 'concluded', 'still_open', [['fixed', 'withdrawn'], ['still_open', 'current']], 'still_open');
    await step(['adjudicate', 'S-1', '--status', 'inconclusive', '--rationale', 'lab was down'], 'concluded', 'inconclusive', [['fixed', 'withdrawn'], ['still_open', 'superseded'], ['inconclusive', 'current']], 'inconclusive');
    await step(['reopen', 'S-1'], 'idle', null, [['fixed', 'withdrawn'], ['still_open', 'superseded'], ['inconclusive', 'withdrawn']], null);
    await step(['end', 'S-1'], 'ended', null, [['fixed', 'withdrawn'], ['still_open', 'superseded'], ['inconclusive', 'withdrawn']], null);

    const { reply: whole } = await retestJson(place, ['export', 'S-1'], ExportReply);
    assert.equal(whole.sha256, createHash('sha256').update(earlier).digest('hex'));
    assert.deepEqual(whole.transcript, eventsIn(transcriptOf(place, 'S-1')));
    assert.deepEqual(whole.verdicts.map((verdict) => verdict.withdrawn?.reason ?? verdict.state), ['the basket was never tried', 'superseded', 'withdrawn']);
    const log = fs.readFileSync(path.join(place.work, '.the-loop/logs/events.jsonl'), 'utf8').trim().split('\n').map((text) => JSON.parse(text) as Record<string, unknown>);
    assert.deepEqual(log.map((event) => event['event']), ['retest.started', 'retest.concluded', 'retest.reopened', 'retest.concluded', 'retest.adjudicated', 'retest.reopened', 'retest.ended']);
    assert.deepEqual([log[1]?.['by'], log[1]?.['actor'], log[2]?.['reason'], log[2]?.['status']], ['agent', 'tester', 'the basket was never tried', 'fixed']);
    for (const args of [['list'], ['show', 'S-1'], ['audit'], ['export', 'S-1']]) {
      const ran = await retest(place, args);
      assert.equal(ran.code, 0);
      assert.ok(ran.stdout.includes('S-1') || args[0] === 'audit', ran.stdout);
    }
  });

  it('refuses what the status does not allow, names the status, and touches nothing', async () => {
    putTranscript(place, 'idle', sessionEvents().map(line).join(''));
    putTranscript(place, 'done', sessionEvents('F-1', 'fixed').map(line).join(''));
    const ended: RetestEvent = { seq: 5, ts: '2026-07-25T10:00:05Z', kind: 'state_change', actor: 'operator', payload: { to: 'ended' } };
    putTranscript(place, 'over', [...sessionEvents(), ended].map(line).join(''));
    const verdict = ['--status', 'fixed', '--rationale', 'x'];
    await refused(
      [['reopen', 'idle'], 2, 'not-concluded', 'idle'],
      [['reopen', 'over'], 2, 'not-concluded', 'ended'],
      [['adjudicate', 'idle', ...verdict], 2, 'not-concluded', 'idle'],
      [['conclude', 'done', ...verdict], 2, 'not-live', 'concluded'],
      [['conclude', 'done', '--status', 'maybe', '--rationale', 'x'], 2, 'not-live', 'concluded'],
      [['conclude', 'idle', '--status', 'maybe', '--rationale', 'x'], 2, 'invalid-argument', 'idle'],
      [['end', 'done'], 2, 'not-live', 'concluded'],
      [['message', 'over', 'hello'], 2, 'not-live', 'ended'],
      [['wake', 'done', '--dry-run'], 2, 'not-idle', 'concluded'],
      [['wake', 'idle'], 2, 'not-available'],
    );
    await refused(...[['reopen', 'none'], ['show', 'none'], ['export', 'none'], ['wake', 'none', '--dry-run']].map((args): Refused => [args, 1, 'unknown-session']));
    await refused(...['../done', 'a/b', '.hidden', '', 'x'.repeat(200), 'a\nb', '..'].map((id): Refused => [['reopen', id], 2, 'invalid-session']), [['show', '../done'], 2, 'invalid-session']);
    await refused(...[['start', '--finding', 'F-1', '--goal', 'g'], ['start', ...F12, '--goal', ' '], ['start', '--finding', 'a\nb', '--goal', 'g', '--scope', 's'],
      ['conclude', 'idle', '--status', 'fixed'], ['conclude', 'idle', ...verdict, '--actor', 'me'], ['message', 'idle', ' '], ['message', 'idle'], ['reopen']].map((args): Refused => [args, 2, 'usage']));
    assert.ok(!fs.existsSync(path.join(retestFolder(place), 'verdicts.json')), 'nothing was written');
  });

  it('follows no symbolic link, whether it is the transcript, the folder or verdicts.json', async () => {
    const outside = path.join(place.top, 'outside.jsonl');
    fs.writeFileSync(outside, sessionEvents('F-1', 'fixed').map(line).join(''));
    fs.mkdirSync(retestFolder(place), { recursive: true });
    fs.symlinkSync(outside, transcriptOf(place, 'link'));
    await refused([['reopen', 'link'], 1, 'unsafe-path'], [['show', 'link'], 1, 'unsafe-path']);
    const { reply } = await retestJson(place, ['list'], RetestListReply);
    assert.deepEqual(reply.sessions.map(({ session, attention }) => [session, attention[0]?.kind]), [['link', 'unreadable']]);
    assert.ok(reply.sessions[0]?.unreadable);
    assert.equal((await retestJson(place, ['audit'], AuditReply)).code, 1);

    fs.rmSync(retestFolder(place), { recursive: true });
    const elsewhere = path.join(place.top, 'elsewhere');
    fs.mkdirSync(elsewhere);
    fs.writeFileSync(path.join(elsewhere, 'S-1.jsonl'), sessionEvents('F-1', 'fixed').map(line).join(''));
    fs.symlinkSync(elsewhere, retestFolder(place));
    await refused(...[['reopen', 'S-1'], ['start', ...F12], ['list'], ['audit']].map((args): Refused => [args, 1, 'unsafe-path']));

    fs.unlinkSync(retestFolder(place));
    putTranscript(place, 'S-1', sessionEvents('F-1', 'fixed').map(line).join(''));
    const precious = path.join(place.top, 'precious');
    fs.writeFileSync(precious, 'mine');
    fs.symlinkSync(precious, path.join(retestFolder(place), 'verdicts.json'));
    const reopened = await retestJson(place, ['reopen', 'S-1'], RetestChangeReply);
    assert.equal(fs.readFileSync(precious, 'utf8'), 'mine');
    assert.ok(reopened.reply.warnings.some(({ kind }) => kind === 'unsafe-path'), 'that verdicts.json is stale is said');
    assert.equal(show().status, 'idle');
  });

  it('reports a torn tail, closes it before the next append, and says so; also one cut inside a character', async () => {
    const whole = Buffer.from([...sessionEvents(), { seq: 5, ts: '2026-07-25T11:00:00Z', kind: 'agent_message', actor: 'agent' as const, payload: { text: 'Prüfung 🙂' } }].map(line).join(''));
    for (const [id, cut] of [['half', 40], ['character', Buffer.byteLength('🙂"}}\n') - 2]] as const) {
      const torn = whole.subarray(0, whole.length - cut);
      putTranscript(place, id, torn);
      const before = show(id);
      assert.deepEqual(before.problems, [{ line: 5, kind: 'torn-tail' }]);
      const { code, reply } = await retestJson(place, ['conclude', id, '--status', 'fixed', '--rationale', 'x'], RetestChangeReply);
      assert.equal(code, 0);
      assert.equal(reply.closed, 'torn-tail');
      assert.ok(reply.items[0]?.notices.some(({ kind }) => kind === 'torn-tail'));
      assert.deepEqual(fs.readFileSync(transcriptOf(place, id)), Buffer.concat([torn, Buffer.from(`\n${reply.appended.map(line).join('')}`)]));
      assert.deepEqual(reply.appended.map(({ seq }) => seq), [5, 6]);
      const after = show(id);
      assert.equal(after.status, 'concluded');
      assert.deepEqual(after.problems, [{ line: 5, kind: 'not-json' }]);
    }
    const { code, reply } = await retestJson(place, ['audit'], AuditReply);
    assert.equal(code, 0, 'the sequence shows that no event is missing');
    assert.deepEqual(reply.problems.map(({ session, kind }) => [session, kind]), [['character', 'not-json'], ['half', 'not-json']]);
    const { reply: exported } = await retestJson(place, ['export', 'half'], ExportReply);
    assert.deepEqual(exported.unreadable, [{ line: 5, text: whole.subarray(0, whole.length - 40).toString().split('\n').at(-1) }]);

    putTranscript(place, 'bare', sessionEvents().map(line).join('').trimEnd());
    const bare = await retestJson(place, ['end', 'bare'], RetestChangeReply);
    assert.equal(bare.reply.closed, 'no-newline');
    assert.deepEqual((show('bare')).problems, []);
  });

  it('a damaged transcript is reported and left as it is; the audit fails where an event may be missing', async () => {
    const [first, second, third, fourth] = sessionEvents().map(line);
    const texts = { gap: [first, second, fourth].join(''), duplicate: [first, second, second, third, fourth].join(''), foreign: [first, second, '42\n', third].join(''), last: [first, second, third, 'lost\n'].join('') };
    for (const [id, text] of Object.entries(texts)) putTranscript(place, id, text);
    const { code, reply } = await retestJson(place, ['audit'], AuditReply);
    assert.equal(code, 1);
    assert.deepEqual(reply.problems.map(({ session, kind }) => [session, kind]), [['duplicate', 'duplicate'], ['foreign', 'not-an-event'], ['gap', 'gap'], ['last', 'not-json']]);
    for (const id of Object.keys(texts)) {
      const conclusion = await retestJson(place, ['conclude', id, '--status', 'fixed', '--rationale', 'x'], RetestChangeReply);
      assert.equal(conclusion.code, 0);
      assert.ok(conclusion.reply.items[0]?.notices.some(({ kind }) => kind === 'corrupt'));
      assert.ok(fs.readFileSync(transcriptOf(place, id), 'utf8').startsWith(texts[id as keyof typeof texts]));
    }
    assert.deepEqual(eventsIn(transcriptOf(place, 'gap')).map(({ seq }) => seq), [1, 2, 4, 5, 6]);
    assert.deepEqual(eventsIn(transcriptOf(place, 'duplicate')).map(({ seq }) => seq), [1, 2, 2, 3, 4, 5, 6]);
  });

  it('a stale verdicts.json is computed around by a read and mended by the next command; the audit names the withdrawn verdict', async () => {
    await retestJson(place, ['start', ...F12]);
    await retestJson(place, ['conclude', 'S-1', '--status', 'fixed', '--rationale', 'no token']);
    const verdicts = path.join(retestFolder(place), 'verdicts.json');
    const stale = fs.readFileSync(verdicts);
    await retestJson(place, ['reopen', 'S-1']);
    fs.writeFileSync(verdicts, stale);
    const before = readTree(place.top);
    const { reply } = await retestJson(place, ['list'], RetestListReply);
    assert.deepEqual(reply.findings, [{ finding: 'F-12', determination: null, sessions: ['S-1'] }]);
    assert.deepEqual(reply.sessions.map(({ currentVerdict, withdrawn, status }) => ({ currentVerdict, withdrawn, status })), [{ currentVerdict: null, withdrawn: 1, status: 'idle' }]);
    assert.ok(reply.warnings.some(({ kind }) => kind === 'stale-verdicts'));
    assert.equal((show()).determination, null);
    const audited = await retestJson(place, ['audit'], AuditReply);
    assert.equal(audited.code, 1);
    assert.deepEqual(audited.reply.discrepancies.map(({ session, finding, field, kind }) => [session ?? finding, field, kind]), [
      ['S-1', 'status', 'differs'], ['S-1', 'currentVerdict', 'withdrawn-verdict'], ['S-1', 'endedAt', 'differs'], ['S-1', 'history', 'differs'], ['F-12', 'determination', 'withdrawn-verdict'],
    ]);
    assert.deepEqual(readTree(place.top), before, 'reading wrote something');
    for (const text of ['{', '[]', '']) {
      fs.writeFileSync(verdicts, text);
      assert.deepEqual(audit().discrepancies.map(({ kind }) => kind), ['unreadable']);
      assert.equal(listRetests(diskReader, stateRoot()).sessions.length, 1);
    }
    await retestJson(place, ['end', 'S-1']);
    assert.ok(audit().ok);
  });

  it('a finding falls back to an older verdict when the newer one is withdrawn', async () => {
    for (const verdict of ['still_open', 'fixed']) {
      await retestJson(place, ['start', ...F12]);
      await retestJson(place, ['conclude', verdict === 'fixed' ? 'S-2' : 'S-1', '--status', verdict, '--rationale', 'x']);
    }
    const seen = show('S-2');
    assert.deepEqual([seen.determination?.session, seen.determination?.status, seen.without?.session, seen.without?.status], ['S-2', 'fixed', 'S-1', 'still_open']);
    const dry = await retestJson(place, ['reopen', 'S-2', '--dry-run'], RetestChangeReply);
    assert.equal(dry.reply.determination.after?.session, 'S-1');
    await retestJson(place, ['reopen', 'S-2']);
    const { reply } = await retestJson(place, ['list'], RetestListReply);
    assert.equal(reply.findings[0]?.determination?.status, 'still_open');
    assert.deepEqual(reply.sessions.map(({ session }) => session), ['S-2', 'S-1'], 'the live one first');
  });

  it('a dry run changes nothing; its digest is asked for, and another state is refused as stale', async () => {
    const conclude = ['conclude', 'S-1', '--status', 'fixed', '--rationale', 'no token'];
    for (const args of [['start', ...F12], conclude]) {
      const planned = await retestJson(place, [...args, '--dry-run'], RetestChangeReply);
      assert.ok(planned.reply.dryRun && planned.reply.appended.length > 0);
      assert.equal((await retestJson(place, [...args, '--expect', planned.reply.digest], RetestChangeReply)).code, 0);
    }
    const before = readTree(place.top);
    const dry = await retestJson(place, ['reopen', 'S-1', '--reason', 'r', '--dry-run'], RetestChangeReply);
    assert.equal(dry.code, 0);
    assert.deepEqual(readTree(place.top), before);
    assert.deepEqual(dry.reply.items[0]?.steps.map(({ kind, undo }) => [kind, undo]), [['appendBytes', 'inverse']]);
    await retestJson(place, ['adjudicate', 'S-1', '--status', 'still_open', '--rationale', 'no']);
    await refused([['reopen', 'S-1', '--reason', 'r', '--expect', dry.reply.digest], 3, 'stale-plan']);
    const again = await retestJson(place, ['reopen', 'S-1', '--reason', 'r', '--dry-run'], RetestChangeReply);
    const done = await retestJson(place, ['reopen', 'S-1', '--reason', 'r', '--expect', again.reply.digest], RetestChangeReply);
    assert.equal(done.code, 0);
    assert.equal(done.reply.digest, again.reply.digest);
  });

  it('wake --dry-run prints the prompt and writes nothing; a message to an idle session records it and gives the prompt', async () => {
    await retestJson(place, ['start', ...F12]);
    await retestJson(place, ['conclude', 'S-1', '--status', 'fixed', '--rationale', 'no token']);
    await retestJson(place, ['reopen', 'S-1', '--reason', 'the basket']);
    const before = readTree(place.top);
    const { reply } = await retestJson(place, ['wake', 'S-1', '--message', 'as guest', '--dry-run'], WakeReply);
    for (const part of ['F-12', 'http://lab:3000/rest/user/login', 'Then the basket', 'fixed', 'no token', 'Withdrawn', 'the basket', 'as guest']) assert.ok(reply.prompt.includes(part), part);
    assert.deepEqual(reply.appended.map(({ kind }) => kind), ['human_message', 'messages_delivered', 'state_change']);
    const shown = await retest(place, ['wake', 'S-1', '--message', 'as guest', '--dry-run']);
    assert.equal(shown.stdout, `${reply.prompt}\n`);
    assert.deepEqual(readTree(place.top), before);
    const message = await retestJson(place, ['message', 'S-1', 'as guest'], RetestChangeReply);
    assert.equal(message.reply.prompt, reply.prompt);
    assert.equal(message.reply.after.status, 'working');
    assert.ok(message.reply.items[0]?.notices.some(({ kind }) => kind === 'no-agent'));
    const queued = await retestJson(place, ['message', 'S-1', 'and as admin'], RetestChangeReply);
    assert.deepEqual([queued.reply.appended.map(({ kind }) => kind), queued.reply.prompt], [['human_message'], undefined]);
    assert.ok((await retest(place, ['wake', '--help'])).stdout.includes('later version'));
  });

  it('a start can be undone as long as nothing followed; a conclusion cannot, and reopen is named', async () => {
    const { reply: started } = await retestJson(place, ['start', ...F12], RetestChangeReply);
    const { reply: concluded } = await retestJson(place, ['conclude', 'S-1', '--status', 'fixed', '--rationale', 'x'], RetestChangeReply);
    assert.ok(concluded.items[0]?.steps[0]?.reason.includes('loopkeeper retest reopen S-1'));
    const bytes = fs.readFileSync(transcriptOf(place, 'S-1'));
    const undo = async (plan: string) => (await runCli(['undo', plan, '--json'], { cwd: place.work })).code;
    assert.notEqual(await undo(concluded.plan), 0);
    assert.notEqual(await undo(started.plan), 0);
    assert.deepEqual(fs.readFileSync(transcriptOf(place, 'S-1')), bytes);
    const { reply: second } = await retestJson(place, ['start', ...F12], RetestChangeReply);
    assert.equal(second.session, 'S-2');
    assert.equal(await undo(second.plan), 0);
    assert.ok(!fs.existsSync(transcriptOf(place, 'S-2')));
    assert.ok(audit().ok);
  });

  for (const [name, args, verdict] of [['reopens', ['reopen', 'S-1'], 'fixed'], ['conclusions', ['conclude', 'S-1', '--status', 'still_open', '--rationale', 'x'], undefined]] as const) {
    it(`of 20 ${name} at once exactly one succeeds, and the sequence has no gap`, async () => {
      putTranscript(place, 'S-1', sessionEvents('F-1', verdict).map(line).join(''));
      const before = fs.readFileSync(transcriptOf(place, 'S-1'), 'utf8');
      const all = await Promise.all(Array.from({ length: 20 }, () => retestJson<Record<string, unknown>>(place, args)));
      assert.deepEqual(all.map(({ code }) => code).sort(), [0, ...Array.from({ length: 19 }, () => 2)]);
      const kinds = new Set(all.filter(({ code }) => code === 2).map(({ reply }) => (reply['error'] as { kind: string }).kind));
      assert.deepEqual([...kinds], [verdict === undefined ? 'not-live' : 'not-concluded']);
      const after = fs.readFileSync(transcriptOf(place, 'S-1'), 'utf8');
      assert.ok(after.startsWith(before));
      const transcript = readTranscript(after);
      assert.deepEqual(transcript.problems, []);
      assert.equal(transcript.count, readTranscript(before).count + 2);
      assert.ok(audit().ok);
    });
  }

  it('sessions begun at once get numbers of their own', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => retestJson(place, ['start', ...F12], RetestChangeReply)));
    assert.deepEqual(all.map(({ reply }) => reply.session).sort(), ['S-1', 'S-2', 'S-3', 'S-4', 'S-5', 'S-6']);
    assert.ok(audit().ok);
  });

  it('lists 2,000 sessions, one of them with 100,000 events, in under a second', async () => {
    for (let index = 1; index < 2000; index += 1) putTranscript(place, `S-${String(index)}`, sessionEvents(`F-${String(index % 700)}`, index % 3 === 0 ? 'fixed' : undefined).map(line).join(''));
    const events = sessionEvents('F-1');
    let text = events.map(line).join('');
    for (let seq = events.length + 1; seq <= 100_000; seq += 1) {
      text += line({ seq, ts: '2026-07-25T11:00:00Z', kind: seq % 2 === 0 ? 'command_output' : 'agent_message', actor: 'agent', payload: { command: 'curl -s lab/login', stdout: '{"token":"x"}', stderr: '', exit_code: 0, elapsed_ms: 12, text: 'I ran that.' } });
    }
    putTranscript(place, 'S-2000', text);
    const nothing = path.join(place.top, 'nothing.js');
    fs.writeFileSync(nothing, '');
    // The best of several, and beside an empty program: what others take of this machine meanwhile is not ours. A second is 16 empty programs.
    const times: number[] = [];
    const empty: number[] = [];
    const best = () => Math.min(...times);
    while (times.length < 8 && !(best() < 1000 || best() < 16 * Math.min(...empty))) {
      let start = performance.now();
      await runCli([], { cwd: place.work, program: nothing });
      empty.push(performance.now() - start);
      start = performance.now();
      const { code, reply } = await retestJson(place, ['list'], RetestListReply);
      times.push(performance.now() - start);
      assert.equal(code, 0);
      assert.equal(reply.sessions.length, 2000);
      assert.equal(reply.sessions.find(({ session }) => session === 'S-2000')?.events, 100_000);
    }
    assert.ok(best() < 1000 || best() < 16 * Math.min(...empty), `${times.map(Math.round).join(', ')} ms; an empty program ${empty.map(Math.round).join(', ')} ms`);
  });

  describe('the command cases, by the program itself', () => {
    interface Case { id: string; title: string; before: RetestEvent[] | null; now: string; command: { name: string; args: Record<string, string> }; expected: { appended: Omit<RetestEvent, 'seq' | 'ts'>[]; refused: string | null } }
    const folder = path.join(root, 'test/cases/retest/command');
    for (const name of fs.readdirSync(folder)) {
      const test = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as Case;
      it(`${test.id}: ${test.title}`, async () => {
        if (test.before) putTranscript(place, 'case', test.before.map(line).join(''));
        const { text, ...options } = test.command.args;
        const args = [test.command.name, 'case', ...(text === undefined ? [] : [text]), ...Object.entries(options).flatMap(([key, value]) => [`--${key}`, value]), ...(test.command.name === 'wake' ? ['--dry-run'] : [])];
        const { code, reply } = await retestJson<{ appended?: RetestEvent[]; error?: { kind: string } }>(place, args, undefined, { LOOPKEEPER_NOW: test.now });
        assert.equal(reply.error?.kind ?? null, test.expected.refused);
        assert.equal(code, test.expected.refused === null ? 0 : test.before ? 2 : 1);
        const last = test.before?.length ?? 0;
        const expected = test.expected.appended.map((event, index) => ({ seq: last + 1 + index, ts: test.now, ...event }));
        if (!test.expected.refused) assert.deepEqual(reply.appended, expected);
        if (test.before) assert.deepEqual(eventsIn(transcriptOf(place, 'case')).slice(last), test.command.name === 'wake' ? [] : expected);
      });
    }
  });
});
