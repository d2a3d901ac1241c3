import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { endAll } from '../support/service.ts';
import { simulate } from './simulate.ts';
import { type FaultKind, faultKinds } from './steps.ts';

/** `npm run faults`: 10,000 steps, unless `--steps` says otherwise. */
const values = readOptions();
const seed = Number(values.seed ?? randomInt(2 ** 31));
const steps = Number(values.steps ?? 10_000);
const kinds = (values.kinds?.split(',') ?? faultKinds) as FaultKind[];
const unknown = kinds.filter((kind) => !faultKinds.includes(kind));
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(steps) || unknown.length > 0) showUsage();
const again = `npm run faults -- --seed ${seed} --steps ${steps}${values.kinds ? ` --kinds ${values.kinds}` : ''}`;
console.log(again);
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
try {
  const figures = await simulate({ seed, steps, kinds, print: console.log, signal: ending.signal });
  console.log(JSON.stringify(figures, null, 2));
} catch (error) {
  console.error(`${(error as Error).message}\n\nThe same steps again: ${again}`);
  process.exitCode = 1;
} finally {
  await endAll();
  if (ending.signal.aborted) process.exit(1); // steps may be under way
}

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ options: { seed: text, steps: text, kinds: text } }).values;
  } catch {
    return showUsage();
  }
}

function showUsage(): never {
  console.error(`Usage: npm run faults -- [--seed N] [--steps N] [--kinds ${faultKinds.join(',')}]`);
  process.exit(2);
}
