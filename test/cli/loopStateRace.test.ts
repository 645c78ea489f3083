import * as assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { makePlace, root, runCli, writeFiles, type Place } from '../support/program';

describe('loop state: ten processes, 100 writes each, one file', function () {
  this.timeout(15 * 60_000);
  let place: Place;
  beforeEach(() => { place = makePlace(); });
  afterEach(() => { place.remove(); });

  it('every write is there, and no reader ever sees half a file', async () => {
    const file = path.join(place.work, '.loop/state-a.json');
    writeFiles(place.work, { '.loop/state-a.json': '{\n  "targets": {\n    "integration:other": {\n      "last_sha": 12345678901234567890\n    }\n  }\n}\n' });
    let isDone = false;
    let reads = 0;
    const reader = (async () => {
      while (!isDone) {
        JSON.parse(fs.readFileSync(file, 'utf8'));
        reads += 1;
        await new Promise((resolve) => { setTimeout(resolve, 5); });
      }
    })();
    const names = Array.from({ length: 10 }, (_, i) => `p${String(i)}`);
    const program = path.join(root, 'test/support/stateWriter.ts');
    const runs = await Promise.all(names.map((name) => runCli([place.work, name, '100'], { cwd: root, program, nodeArgs: ['--import', 'tsx'], env: { PATH: process.env['PATH'] ?? '', HOME: place.home } })));
    isDone = true;
    await reader;
    for (const ran of runs) assert.equal(ran.code, 0, ran.stderr);
    const text = fs.readFileSync(file, 'utf8');
    const { targets } = JSON.parse(text) as { targets: Record<string, { consecutive_failures: number }> };
    assert.equal(targets['integration:shared']?.consecutive_failures, 900);
    for (const name of names) assert.equal(targets[`integration:${name}`]?.consecutive_failures, 10);
    assert.ok(text.includes('"last_sha": 12345678901234567890'));
    assert.deepEqual(fs.readdirSync(path.dirname(file)).sort(), ['loopkeeper', 'state-a.json']);
    assert.deepEqual(fs.readdirSync(path.join(place.work, '.loop/loopkeeper/journal')), []);
    assert.ok(reads > 100);
  });
});
