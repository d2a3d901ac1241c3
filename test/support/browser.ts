import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.ts';

export const sizes = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } } as const;

/** Real Chromium on this machine. */
export function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('Chromium was not found.');
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Pictures of a page at phone and desktop size, in light and dark, in `SCREENSHOTS_DIR`. */
export async function photograph(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS_DIR ?? '/tmp/quittance-shots';
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: true });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}
