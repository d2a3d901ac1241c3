import { globSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { findChromium } from './support/browser/chromium.ts';

/**
 * Puts the screenshots of the page tests side by side: one sheet for each area, size and colour scheme, in
 * `<SCREENSHOTS_DIR>/sheets`. Run `SCREENSHOTS_DIR=/tmp/quittance-shots npm run test:pages` first, then
 * `node test/contact-sheets.ts`.
 */
const folder = process.env.SCREENSHOTS_DIR ?? '/tmp/quittance-shots';
const across = { phone: { columns: 6, width: 240 }, desktop: { columns: 4, width: 420 } };

const executablePath = findChromium();
if (!executablePath) throw new Error('Chromium was not found.');
mkdirSync(join(folder, 'sheets'), { recursive: true });

const sheets = new Map<string, { size: keyof typeof across; files: string[] }>();
for (const file of globSync('*.png', { cwd: folder }).sort()) {
  const [, area, size, scheme] = /^([a-z]+)-.*-(phone|desktop)-(light|dark)\.png$/.exec(file) ?? [];
  if (!area || !(size === 'phone' || size === 'desktop')) continue;
  const name = `${area}-${size}-${scheme}`;
  const sheet = sheets.get(name) ?? { size, files: [] };
  sheet.files.push(join(folder, file));
  sheets.set(name, sheet);
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--allow-file-access-from-files'] });
try {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(folder).href);
  for (const [name, { size, files }] of sheets) {
    const { columns, width } = across[size];
    await page.setViewportSize({ width: columns * (width + 16) + 16, height: 800 });
    const figures = files.map(
      (file) =>
        `<figure style="margin:0"><figcaption>${basename(file, '.png').replace(/-(phone|desktop)-.*/, '')}</figcaption>
<img src="${pathToFileURL(file).href}" width="${width}"></figure>`,
    );
    await page.setContent(
      `<body style="margin:16px;display:grid;grid-template-columns:repeat(${columns},${width}px);gap:16px;align-items:start;background:#888;font:12px sans-serif">${figures.join('')}`,
    );
    await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
    await page.screenshot({ path: join(folder, 'sheets', `${name}.png`), fullPage: true });
    process.stdout.write(`${name}: ${files.length} pictures\n`);
  }
} finally {
  await browser.close();
}
