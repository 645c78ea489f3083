// Ends the sessions whose steps are in the file named by the argument; killed by the test in the middle.
import fs from 'node:fs';
import { endSessions } from '../../../src/core/harness/close';
import type { EndingData } from '../../../src/core/harness/prepareEndings';
import { realClock } from '../realClock';

const steps = JSON.parse(fs.readFileSync(process.argv[2] ?? '', 'utf8')) as EndingData[];
void endSessions(steps, { clock: realClock, callerPid: process.pid, onProgress: (ended, total) => { process.stdout.write(`${String(ended)}/${String(total)}\n`); } });
