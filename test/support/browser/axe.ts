import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { id: string; impact: string | null; nodes: { target: unknown[]; failureSummary?: string }[] };

/** What axe calls moderate, and yet hides a part of the page from those who move from landmark to landmark. */
const outsideLandmarks = 'region';

/** Asserts that axe finds nothing serious or critical, and nothing outside landmarks, in light and in dark. */
export async function assertAccessible(page: Page): Promise<void> {
  // Evaluated through the browser's tools, to which the page's policy does not apply.
  await page.evaluate(source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await page.evaluate(async () => {
      const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
      const limit = new Promise<never>((_, reject) => {
        setTimeout(() => reject(new Error('axe took longer than two minutes')), 120_000);
      });
      return (await Promise.race([axe.run({ resultTypes: ['violations'] }), limit])).violations;
    });
    const grave = violations.filter(
      ({ id, impact }) => impact === 'serious' || impact === 'critical' || id === outsideLandmarks,
    );
    const told = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
    assert.deepEqual(told, [], `${page.url()} in ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: null });
}
