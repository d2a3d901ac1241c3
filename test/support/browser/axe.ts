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
    assert.deepEqual(await page.evaluate(faintHints), [], `${page.url()} in ${colorScheme}: hints in fields`);
  }
  await page.emulateMedia({ colorScheme: null });
}

/** Runs in the page: hints in fields with a contrast below 4.5, which axe does not measure. */
function faintHints(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', {
    willReadFrequently: true,
  }) as CanvasRenderingContext2D;
  const luminanceOf = (...layers: string[]) => {
    canvas.fillStyle = 'white';
    canvas.fillRect(0, 0, 1, 1);
    for (const layer of layers) {
      canvas.fillStyle = layer;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrastOf = (field: HTMLElement) => {
    const ground: string[] = [];
    for (let element: HTMLElement | null = field; element; element = element.parentElement)
      ground.unshift(getComputedStyle(element).backgroundColor);
    const hint = getComputedStyle(field, '::placeholder');
    const [high = 0, low = 0] = [luminanceOf(...ground), luminanceOf(...ground, hint.color)].sort((a, b) => b - a);
    return hint.opacity === '1' ? (high + 0.05) / (low + 0.05) : 0;
  };
  const fields = [...document.querySelectorAll<HTMLInputElement>('[placeholder]')];
  return fields.filter((field) => contrastOf(field) < 4.5).map(({ name, placeholder }) => `${name}: ${placeholder}`);
}
