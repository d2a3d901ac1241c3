import { after, test } from 'node:test';
import { simulate } from '../faults/simulate.ts';
import { faultKinds } from '../faults/steps.ts';
import { endAll } from '../support/service.ts';

after(endAll);

const steps = 240;
/** Always the same here, so that a change is judged alike each time; `npm run faults` draws others. */
const seeds = [20_261_122, 41];

for (const seed of seeds) {
  test(`${steps} steps of seed ${seed} with all kinds of faults → the service agrees with the model`, async (t) => {
    t.diagnostic(`npm run faults -- --seed ${seed} --steps ${steps}`);
    const print = (line: string) => t.diagnostic(line);
    const figures = await simulate({ seed, steps, kinds: faultKinds, print, signal: t.signal });
    t.diagnostic(JSON.stringify(figures.made));
  });
}
