import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { diskReader } from '../../src/core/disk/reader';
import { auditRetests } from '../../src/core/retest/auditStore';
import { showRetest } from '../../src/core/retest/report';
import { buildVerdicts } from '../../src/core/retest/store';
import { readTranscript } from '../../src/core/retest/transcript';
import { RetestListReply } from '../../src/protocol/retest';
import { runWithFault, visitFaults } from '../support/faults';
import { cleanEnv, makePlace, runCli, type Place } from '../support/program';
import { line, putTranscript, retestFolder, retestJson, sessionEvents, transcriptOf } from '../support/retest';

const verbs = {
  conclude: { verdict: undefined, args: ['retest', 'conclude', 'S-1', '--status', 'fixed', '--rationale', 'kein Token – geprüft', '--json'], kinds: ['verdict', 'state_change'], event: 'retest.concluded' },
  reopen: { verdict: 'still_open', args: ['retest', 'reopen', 'S-1', '--reason', 'zu früh', '--json'], kinds: ['verdict_cancelled', 'state_change'], event: 'retest.reopened' },
};
/** A changing command that has nothing to do with the session: it finishes what is unfinished. */
const next = ['retest', 'start', '--finding', 'F-9', '--goal', 'g', '--scope', 's', '--json'];

const stateRoot = (place: Place): string => path.join(place.work, '.the-loop');
const journalOf = (place: Place): string[] => {
  const folder = path.join(stateRoot(place), 'loopkeeper/journal');
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name !== 'failed') : [];
};

function prepare(place: Place, verdict: string | undefined): string {
  const text = sessionEvents('F-1', verdict).map(line).join('');
  putTranscript(place, 'S-1', text);
  putTranscript(place, 'S-0', sessionEvents('F-1', 'inconclusive').map(line).join(''));
  fs.writeFileSync(path.join(retestFolder(place), 'verdicts.json'), buildVerdicts(diskReader, stateRoot(place)));
  return text;
}

const lines = (place: Place, event: string): number => {
  const log = path.join(stateRoot(place), 'logs/events.jsonl');
  return fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').filter((text) => text.includes(`"${event}"`)).length : 0;
};

describe('retest: faults at every file operation', function () {
  this.timeout(20 * 60_000);

  for (const [name, verb] of Object.entries(verbs)) {
    it(`${name}: both events or none, finished by the next command, nothing torn, one line in the event log`, async () => {
      let before = '';
      const counts = { none: 0, both: 0 };
      /** The kinds that were added; the earlier bytes are the same. */
      const added = (place: Place, point: string): string[] => {
        const text = fs.readFileSync(transcriptOf(place, 'S-1'), 'utf8');
        assert.ok(text.startsWith(before), `${point}: earlier bytes changed`);
        const transcript = readTranscript(text);
        assert.deepEqual(transcript.problems, [], `${point}: torn or damaged`);
        const kinds = transcript.events.map(({ kind }) => kind).slice(readTranscript(before).count);
        assert.ok(kinds.length === 0 || kinds.join() === verb.kinds.join(), `${point}: half of it is there: ${kinds.join()}`);
        return kinds;
      };
      const { points, operations } = await visitFaults({
        prepare(place) { before = prepare(place, verb.verdict); },
        args: () => verb.args,
        next,
        modes: ['kill', 'ENOSPC', 'full'],
        afterFault(place, ran, point) {
          const kinds = added(place, point);
          if (point.startsWith('kill')) return;
          if (kinds.length === 0) assert.notEqual(ran.code, 0, `${point}: nothing happened, and that is not said`);
          const reply = JSON.parse(ran.stdout) as { error?: { kind: string }; items?: { errors: { kind: string }[] }[] };
          if (ran.code !== 0) assert.ok(reply.error ?? (reply.items?.[0]?.errors.length ?? 0) > 0, `${point}: failed without a reason`);
        },
        afterNext(place, _ran, point) {
          const kinds = added(place, point);
          counts[kinds.length === 0 ? 'none' : 'both'] += 1;
          assert.deepEqual(journalOf(place), [], `${point}: the journal is not empty`);
          if (kinds.length > 0) assert.equal(lines(place, verb.event), 1, `${point}: lines in the event log`);
          const audit = auditRetests(diskReader, stateRoot(place));
          assert.ok(audit.ok, `${point}: ${JSON.stringify(audit.discrepancies)}`);
          const { currentVerdict, status } = showRetest(diskReader, stateRoot(place), 'S-1');
          assert.equal(currentVerdict === null, status === 'idle', point);
          assert.deepEqual(fs.readdirSync(retestFolder(place)).sort(), ['S-0.jsonl', 'S-1.jsonl', 'S-2.jsonl', 'verdicts.json'], `${point}: left behind`);
        },
      });
      console.log(`      ${name}: ${String(points)} points visited (${String(operations)} operations × 3 faults): ${String(counts.none)} none, ${String(counts.both)} both`);
      assert.ok(operations > 25 && counts.none > 20 && counts.both > 40, JSON.stringify({ operations, ...counts }));
    });

    it(`${name}: killed in the middle of the write, the torn line is reported and the rest is written by the next command`, async () => {
      const place = makePlace();
      const saved = path.join(place.top, 'saved');
      try {
        const before = prepare(place, verb.verdict);
        const file = transcriptOf(place, 'S-1');
        fs.cpSync(place.work, saved, { recursive: true });
        let whole = before;
        // Killed before the operation that follows the write: all of it is there, and nothing of what comes after.
        for (let at = 1; whole === before && at < 60; at += 1) {
          fs.rmSync(place.work, { recursive: true });
          fs.cpSync(saved, place.work, { recursive: true });
          await runWithFault(verb.args, place, 'kill', at);
          whole = fs.readFileSync(file, 'utf8');
        }
        const bytes = Buffer.from(whole);
        const offset = Buffer.byteLength(before);
        assert.ok(bytes.length > offset && journalOf(place).length > 0);
        fs.rmSync(saved, { recursive: true });
        fs.cpSync(place.work, saved, { recursive: true });
        const first = whole.indexOf('\n', before.length) + 1;
        const cuts = new Set([offset + 1, Buffer.byteLength(whole.slice(0, first)) - 1, Buffer.byteLength(whole.slice(0, first)), bytes.length - 1, bytes.indexOf(Buffer.from('ü'), offset) + 1]);
        for (let cut = offset + 7; cut < bytes.length; cut += 83) cuts.add(cut);
        for (const cut of cuts) {
          fs.rmSync(place.work, { recursive: true });
          fs.cpSync(saved, place.work, { recursive: true });
          fs.truncateSync(file, cut);
          const text = bytes.subarray(0, cut).toString('utf8');
          const { reply } = await retestJson(place, ['list'], RetestListReply);
          assert.ok(reply.warnings.some(({ kind }) => kind === 'unfinished-plan'), `cut at ${String(cut)}: the unfinished command is not said`);
          assert.deepEqual(reply.sessions.find(({ session }) => session === 'S-1')?.problems.map(({ kind }) => kind), readTranscript(text).tornTail ? ['torn-tail'] : [], `cut at ${String(cut)}`);
          const ran = await runCli(next, { cwd: place.work, env: cleanEnv(place.home) });
          assert.equal(ran.code, 0, ran.stdout);
          assert.deepEqual(fs.readFileSync(file), bytes, `cut at ${String(cut)}: not completed`);
          assert.ok(auditRetests(diskReader, stateRoot(place)).ok);
          assert.equal(lines(place, verb.event), 1);
        }
      } finally {
        place.remove();
      }
    });
  }

  it('a dry run beside a killed conclusion plans on the state that it will leave', async () => {
    const place = makePlace();
    try {
      const before = prepare(place, undefined);
      for (let at = 1; fs.readFileSync(transcriptOf(place, 'S-1'), 'utf8') === before && at < 60; at += 1) {
        fs.rmSync(path.join(stateRoot(place)), { recursive: true });
        prepare(place, undefined);
        await runWithFault(verbs.conclude.args, place, 'kill', at);
      }
      fs.truncateSync(transcriptOf(place, 'S-1'), Buffer.byteLength(before) + 10);
      const dry = await retestJson<{ digest: string; appended: { kind: string }[]; warnings: { kind: string }[] }>(place, ['reopen', 'S-1', '--dry-run']);
      assert.equal(dry.code, 0, JSON.stringify(dry.reply));
      assert.deepEqual(dry.reply.appended.map(({ kind }) => kind), verbs.reopen.kinds);
      assert.ok(dry.reply.warnings.some(({ kind }) => kind === 'unfinished-plan'));
      const done = await retestJson<{ digest: string }>(place, ['reopen', 'S-1', '--expect', dry.reply.digest]);
      assert.equal(done.code, 0, JSON.stringify(done.reply));
      assert.ok(auditRetests(diskReader, stateRoot(place)).ok);
    } finally {
      place.remove();
    }
  });
});
