import type { Page } from 'playwright-core';
import { doneMs } from '../../../src/islands/lib/copy.ts';

type Holding = typeof globalThis & { held: (() => void)[] };

/**
 * Holds back timers of `doneMs` in the loaded page until they are released, so that a button says “Copied” for as long
 * as a test needs, however busy the machine is.
 */
export async function holdDone(page: Page) {
  await page.evaluate((ms) => {
    const holding = globalThis as Holding;
    const start = globalThis.setTimeout.bind(globalThis);
    holding.held = [];
    const holdOrStart = (run: () => void, after?: number) => {
      return after === ms ? -holding.held.push(run) : start(run, after);
    };
    globalThis.setTimeout = holdOrStart as typeof setTimeout;
  }, doneMs);
  return {
    /** Resolves when this many are held. */
    isHeld: (many: number) => page.waitForFunction((least) => (globalThis as Holding).held.length >= least, many),
    release: () =>
      page.evaluate(() => {
        for (const run of (globalThis as Holding).held.splice(0)) run();
      }),
  };
}
