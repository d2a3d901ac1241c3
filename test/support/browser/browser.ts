import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { patienceMs } from '../patience.ts';
import { findChromium } from './chromium.ts';

export const sizes = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } } as const;

/** Headless Chromium: the same engine, but opening a page takes a quarter of the work. */
const headlessShell = '/usr/bin/chromium-headless-shell';

/**
 * Real Chromium on this machine, headless shell if it is installed.
 *
 * @param flags for its command line; with flags the full Chromium runs, as the headless shell does not know them all
 */
export async function openBrowser(flags: string[] = []): Promise<Browser> {
  const executablePath = flags.length === 0 && existsSync(headlessShell) ? headlessShell : findChromium();
  if (!executablePath) throw new Error('Chromium was not found.');
  const args = ['--no-sandbox', ...flags];
  const browser = await chromium.launch({ executablePath, args, timeout: patienceMs });
  return browser.on('context', (context) => context.setDefaultTimeout(patienceMs));
}

/** Where screenshots are saved. If unset, none are taken: they are for people to look at, and are slow. */
const folder = process.env.SCREENSHOTS_DIR;

/** A screenshot in `SCREENSHOTS_DIR` of the viewport. One of the full page would reset the mouse on a phone. */
export async function snap(page: Page, name: string, fullPage = false): Promise<void> {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
}

/** Screenshots of a page at phone and desktop size, in light and dark. */
export async function photograph(page: Page, name: string): Promise<void> {
  if (!folder) return;
  const before = page.viewportSize();
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await snap(page, `${name}-${size}-${colorScheme}`, true);
    }
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
}
