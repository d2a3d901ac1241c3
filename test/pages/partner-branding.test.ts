import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { html } from '../../src/lib/text/html.ts';
import { systemClock } from '../../src/lib/time.ts';
import { readBranding, setBranding } from '../../src/partners/branding.ts';
import { logoRoute } from '../../src/partners/pages.ts';
import { logoOf } from '../../src/ui/branding.ts';
import { wordsFor } from '../../src/ui/language.ts';
import { sendPage } from '../../src/web/layout.ts';
import { testContext } from '../support/app.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { png } from '../support/pictures.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let database: Awaited<ReturnType<typeof testDatabase>>;
let app: FastifyInstance;
let browser: Browser;
let url: string;

/** A page with every element in the accent colour, on paper and on a card. */
before(async () => {
  [database, browser] = await Promise.all([testDatabase(), openBrowser()]);
  const ctx = testContext(database.db);
  app = fastify();
  logoRoute(app, ctx);
  app.get('/page/:id', { config: { auth: 'public' } }, async (request, reply) => {
    const branding = await readBranding(ctx, (request.params as { id: string }).id);
    const parts = html`<p><a href="#a">A link</a></p><button>Pay</button><button class="second">Another way</button>`;
    const body = html`${logoOf(branding)}<h1>${branding.name}</h1>${parts}<section class="card">${parts}</section>`;
    return sendPage(reply, 200, { title: branding.name, words: wordsFor(request), testMode: false, body, branding });
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await browser.close();
  await app.close();
  await database.drop();
});

async function open(wanted: Parameters<typeof setBranding>[3]): Promise<{ page: Page; complaints: string[] }> {
  const { partner } = await makePartner(database.db);
  await setBranding({ db: database.db, clock: systemClock }, theService, partner.slug, wanted);
  const page = await browser.newPage({ viewport: sizes.phone });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('requestfailed', (request) => complaints.push(request.url()));
  await page.goto(`${url}/page/${partner.id}`);
  return { page, complaints };
}

test('Any accent can be read in light and in dark, as links, as buttons and under their words', async () => {
  for (const accent of ['#ffff00', '#000000', '#ffffff', '#0000ff', '#777777', '#ff0055', '#00aa77']) {
    const { page, complaints } = await open({ accent });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(axe);
      const faults = await page.evaluate(
        `axe.run(document, { runOnly: ['color-contrast'] }).then(({ violations, passes }) =>
          ({ violations: violations.flatMap(({ nodes }) => nodes.map((node) => node.failureSummary)), passes: passes.length }))`,
      );
      assert.deepEqual(faults, { violations: [], passes: 1 }, `${accent} ${colorScheme}`);
      const button = page.locator('button').first();
      const [shown, house] = await button.evaluate((element) => {
        const before = getComputedStyle(element).backgroundColor;
        for (const sheet of [...document.styleSheets].slice(1)) sheet.disabled = true;
        const after = getComputedStyle(element).backgroundColor;
        for (const sheet of document.styleSheets) sheet.disabled = false;
        return [before, after];
      });
      assert.notEqual(shown, house, `${accent} ${colorScheme} is not the house’s own`);
    }
    assert.deepEqual(complaints, [], accent);
    await page.close();
  }
});

test('A logo of each kind and of any shape is shown within its limits, under the page’s policy', async () => {
  const { page: painter } = await open({ name: 'Painter' });
  const painted = async (type: string) => {
    const data = await painter.evaluate((wanted) => {
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [300, 120];
      const pen = canvas.getContext('2d') as CanvasRenderingContext2D;
      pen.fillStyle = 'teal';
      pen.fillRect(20, 20, 260, 80);
      return canvas.toDataURL(wanted);
    }, type);
    return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64');
  };
  const logos: [string, Buffer][] = [
    ['jpeg', await painted('image/jpeg')],
    ['png', await painted('image/png')],
    ['webp', await painted('image/webp')],
    ['wide', png(900, 30, [0, 90, 60])],
    ['tall', png(30, 900, [0, 90, 60])],
  ];
  for (const [name, logo] of logos) {
    const { page, complaints } = await open({ name: 'Corner Shops', accent: '#0a7', logo });
    const picture = page.getByAltText('Corner Shops');
    await picture.evaluate((img: HTMLImageElement) => img.decode());
    const box = await picture.boundingBox();
    assert.ok(box && box.height === 40 && box.width > 0 && box.width <= 120, `${name} ${JSON.stringify(box)}`);
    assert.deepEqual(complaints, [], name);
    await photograph(page, `branding-${name}`);
    await page.close();
  }
  await painter.close();
});
