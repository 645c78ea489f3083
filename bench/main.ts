// Measures Loopkeeper against an empty Node program and against what it replaces, in one run.  usage: npm run bench [-- --smoke]
// Every budget is a ratio or a size, so that it means the same on any machine; a line says ok or over, and over ends with 1.
// --smoke: small sizes, and budgets with room for the noise of a machine that does other things too.
import fs from 'node:fs';
import path from 'node:path';
import { retentionAgainstJq } from './retention';
import { sessionsAgainstEmpty } from './sessions';
import { usageOfTranscripts } from './usage';
import { listManyRuns, parseModelOutput, showDeepStack } from './workflow';

const program = path.join(process.cwd(), 'dist/cli.js');
const smoke = process.argv.includes('--smoke');
/** Noise does not make a program ten times slower, but it can double a time. */
const room = smoke ? 2 : 1;
let over = 0;

const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

function budget(what: string, value: number, limit: number, unit: string): void {
  const ok = value <= limit;
  if (!ok) over += 1;
  console.log(`  ${ok ? 'ok  ' : 'OVER'} ${what}: ${value.toFixed(2)} ${unit}, budget ${limit.toFixed(2)}`);
}

function sizes(): void {
  console.log('bundles');
  const size = (files: readonly string[]): number => files.reduce((sum, file) => sum + fs.statSync(path.join('dist', file)).size, 0) / 1024;
  budget('dist/cli.js', size(['cli.js']), 600, 'KB');
  // What is loaded when the extension wakes; the table of commands comes with the first command.
  const awake = fs.readdirSync('dist').filter((file) => file === 'extension.js' || /^extension-chunk-.*\.js$/.test(file));
  budget(`dist/${awake.join(' + ')}`, size(awake), 150, 'KB');
}

function sessions(): void {
  console.log('sessions list and sessions reset --all, against an empty Node program');
  const figures = (smoke ? [100, 1_000] : [100, 1_000, 10_000]).map((items) => sessionsAgainstEmpty(program, items, smoke ? 3 : items > 1_000 ? 3 : 7));
  for (const { items, empty, list, reset, emptyMemory, listMemory, resetMemory } of figures) {
    console.log(`  ${String(items).padStart(6)} items: empty ${milliseconds(empty)}, list ${milliseconds(list)}, reset ${milliseconds(reset)}; memory ${emptyMemory.toFixed(0)}, ${listMemory.toFixed(0)}, ${resetMemory.toFixed(0)} MB`);
  }
  const [hundred, thousand, most] = figures;
  if (!hundred || !thousand) return;
  budget('list of 100', hundred.list / hundred.empty, 2.5 * room, '× empty');
  // The design's 2 s and 0.6 s are of a machine on which an empty program takes 0.06 s.
  budget('reset of 1,000', thousand.reset / thousand.empty, (2 / 0.06) * room, '× empty');
  const perItem = (large: typeof hundred, small: typeof hundred): number => (large.reset - small.reset) / (large.items - small.items) / ((small.reset - small.empty) / small.items);
  budget('reset grows with the items: each of 1,000 against each of 100', perItem(thousand, hundred), 1.5 * room, '×');
  if (!most) return;
  budget('list of 10,000', most.list / most.empty, 10 * room, '× empty');
  budget('reset grows with the items: each of 10,000 against each of 1,000', perItem(most, thousand), 1.5 * room, '×');
}

function retention(): void {
  console.log('loop-state prune, against jq');
  const figures = retentionAgainstJq(program, smoke ? [2_000] : [2_000, 20_000, 200_000]);
  for (const { targets, bytes, jqMs, parseMs, plannerMs, programMs } of figures) {
    console.log(`  ${String(targets).padStart(6)} targets (${(bytes / 1e6).toFixed(1)} MB): jq ${jqMs === null ? 'is not here' : milliseconds(jqMs)}, JSON.parse ${milliseconds(parseMs)}, planner ${milliseconds(plannerMs)}, program ${milliseconds(programMs)}`);
  }
  const largest = figures.at(-1);
  // 1.5 s where JSON.parse of the same text takes 0.29 s; of a small file the program's start is most of it.
  if (largest && !smoke) budget('prune of 200,000', largest.programMs / largest.parseMs, 1.5 / 0.29, '× JSON.parse');
  if (largest && smoke) budget('planner of 2,000', largest.plannerMs / largest.parseMs, 8 * room, '× JSON.parse');
}

function others(): void {
  console.log('usage of transcripts of 10 KB to 20 MB');
  const usage = usageOfTranscripts(smoke ? 100 : 1_000);
  console.log(`  ${String(usage.transcripts)} transcripts (${(usage.size / 1e6).toFixed(0)} MB): ${milliseconds(usage.milliseconds)}`);
  budget('the most that is read of one', usage.most / 1024, 64, 'KB');
  console.log('workflow');
  console.log(`  show of a stack of ${smoke ? '100' : '1,000'} frames ${milliseconds(showDeepStack(smoke ? 100 : 1_000))}, list of ${smoke ? '100' : '1,000'} runs ${milliseconds(listManyRuns(smoke ? 100 : 1_000))}, parse of ${smoke ? '1' : '10'} MB of output ${milliseconds(parseModelOutput(smoke ? 1 : 10))}`);
}

sizes();
sessions();
retention();
others();
console.log(over === 0 ? 'every budget is kept' : `${String(over)} over budget`);
process.exitCode = over === 0 ? 0 : 1;
