import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { accessCommands } from '../../src/cli/access.ts';
import type { Arguments } from '../../src/cli/command.ts';
import { assignment } from '../../src/db/sql.ts';
import { readBranding } from '../../src/partners/branding.ts';
import { maxLogoBytes } from '../../src/partners/logo.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { png } from '../support/pictures.ts';

const red = png(40, 20, [200, 0, 0]);
const blue = png(40, 20, [0, 0, 200]);
const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
const svg = Buffer.from(
  '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
);

let app: Awaited<ReturnType<typeof startApp>>;
let folder: string;
let nowMs = Date.parse('2026-11-21T12:00:00Z');
before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  folder = mkdtempSync(join(tmpdir(), 'quittance-branding-'));
});
after(async () => {
  rmSync(folder, { recursive: true });
  await app.stop();
});

async function runPartnerLook(slug: string, options: Arguments['options']): Promise<Record<string, unknown>> {
  const command = accessCommands.find(({ name }) => name === 'partner look');
  assert.ok(command);
  const { partner } = await command.run(app.ctx, { words: [slug], options });
  return JSON.parse(JSON.stringify(partner));
}

function file(name: string, bytes: Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const shown = ({ name, accent, logo_type, logo_path }: Record<string, unknown>) => ({
  name,
  accent,
  logo_type,
  logo_path,
});

test('partner look › sets what is named, leaves the rest, and none takes away', async () => {
  const { partner } = await makePartner(app.db);
  const { slug } = partner;
  const set = await runPartnerLook(slug, { name: 'Tills & Co', accent: '0A7', logo: file('red.png', red) });
  assert.match(String(set.logo_path), new RegExp(`^/logo/${slug}\\?v=[0-9a-f]{16}$`));
  const { logo_path } = set;
  const all = { name: 'Tills & Co', accent: '#00aa77', logo_type: 'image/png', logo_path };
  assert.deepEqual(shown(set), all);
  assert.equal('logo' in set, false, 'the bytes stay where they are');
  assert.equal(set.id, partner.id);

  assert.deepEqual(shown(await runPartnerLook(slug, { name: 'Tills' })), { ...all, name: 'Tills' });
  const bare = { name: 'Tills', accent: null, logo_type: null, logo_path: null };
  assert.deepEqual(shown(await runPartnerLook(slug, { accent: 'none' })), { ...all, name: 'Tills', accent: null });
  assert.deepEqual(shown(await runPartnerLook(slug, { logo: 'none' })), bare);
});

test('partner look › an invalid value is refused in a sentence, and nothing changes', async () => {
  const { partner } = await makePartner(app.db);
  const { slug } = partner;
  const before = shown(await runPartnerLook(slug, { accent: '#123456', logo: file('good.png', red) }));
  const cases: [RegExp, Arguments['options']][] = [
    [/Nothing to change/, {}],
    [/The name must have 1 to 120 characters/, { name: ' ' }],
    [/not only invisible ones/, { name: '\u200b\u3164' }],
    [/The name must have 1 to 120 characters/, { name: 'x'.repeat(121) }],
    [/"green" is not a colour; write it like "#0a7"/, { accent: 'green' }],
    [/--accent is missing/, { accent: true }],
    [/There is no file/, { logo: join(folder, 'nowhere.png') }],
    [/There is no file/, { logo: folder }],
    [/SVG logos are not accepted, because SVG can carry scripts/, { logo: file('logo.png', svg) }],
    [/not a PNG, JPEG or WebP image/, { logo: file('text.png', Buffer.from('hello')) }],
    [/not a PNG, JPEG or WebP image/, { logo: file('empty.png', Buffer.alloc(0)) }],
    [/has 65537 bytes; the limit is 65536/, { logo: file('big.png', padded(maxLogoBytes + 1)) }],
    [/"green" is not a colour/, { name: 'New name', logo: file('blue.png', blue), accent: 'green' }],
  ];
  for (const [sentence, options] of cases) await assert.rejects(runPartnerLook(slug, options), sentence);
  await assert.rejects(runPartnerLook('nobody', { name: 'N' }), /There is no partner "nobody"/);
  assert.deepEqual(shown(await runPartnerLook(slug, { name: partner.name })), before);
  assert.equal((await runPartnerLook(slug, { logo: file('full.png', padded(maxLogoBytes)) })).logo_type, 'image/png');
});

function padded(length: number): Buffer {
  return Buffer.concat([red, Buffer.alloc(length - red.length)]);
}

test('GET /logo › answers the bytes as the picture they are, kept for ever only under the address of their content', async () => {
  const { partner } = await makePartner(app.db);
  const first = await runPartnerLook(partner.slug, { logo: file('named.jpg', webp) });
  const answer = await fetch(app.url + first.logo_path);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'image/webp', 'the name of the file says nothing');
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox");
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), webp);

  const second = await runPartnerLook(partner.slug, { logo: file('blue.png', blue) });
  assert.notEqual(second.logo_path, first.logo_path);
  for (const path of [String(first.logo_path), `/logo/${partner.slug}`]) {
    const stale = await fetch(app.url + path);
    assert.equal(stale.headers.get('cache-control'), 'no-cache', path);
    assert.deepEqual(Buffer.from(await stale.arrayBuffer()), blue, path);
  }
  const head = await fetch(app.url + second.logo_path, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), String(blue.length));
  assert.equal((await head.arrayBuffer()).byteLength, 0);
  assert.equal((await fetch(app.url + second.logo_path, { method: 'POST' })).status, 405);
});

test('GET /logo › there is nothing for a partner without a logo, nor for a slug that nobody has or could have', async () => {
  const { partner } = await makePartner(app.db);
  for (const slug of [partner.slug, 'nobody', '%00', 'A', '..%2F..', 'x'.repeat(500)]) {
    const answer = await fetch(`${app.url}/logo/${slug}`);
    assert.equal(answer.status, 404, slug);
    assert.match(String(answer.headers.get('content-type')), /^text\/html/);
  }
});

test('readBranding › gives name, logo and accent; a change shows within ten seconds, and meanwhile the database rests', async () => {
  const { partner } = await makePartner(app.db);
  const plain = { name: partner.name, logoPath: null, accentStyle: null };
  assert.deepEqual(await readBranding(app.ctx, partner.id), plain);
  const set = await runPartnerLook(partner.slug, { name: 'Tills <b>', accent: '#005f9e', logo: file('red.png', red) });
  nowMs += 4999;
  assert.deepEqual(await readBranding(app.ctx, partner.id), plain);
  nowMs += 1;
  const changed = await readBranding(app.ctx, partner.id);
  assert.equal(changed.name, 'Tills <b>');
  assert.equal(changed.logoPath, set.logo_path);
  assert.match(String(changed.accentStyle), /^:root\{--accent:#005f9e;--on-accent:#ffffff\}@media/);
  await assert.rejects(readBranding(app.ctx, randomUUID()), { code: 'not_found' });
});

test('readBranding › the branding of two partners is never mixed up', async () => {
  const [one, other] = await Promise.all([makePartner(app.db), makePartner(app.db)]);
  await runPartnerLook(one.partner.slug, { name: 'One' });
  await runPartnerLook(other.partner.slug, { name: 'Other' });
  for (const [id, name] of [
    [one.partner.id, 'One'],
    [other.partner.id, 'Other'],
    [one.partner.id, 'One'],
  ] as const) {
    assert.equal((await readBranding(app.ctx, id)).name, name);
  }
});

test('the database itself refuses half a logo, another kind of file, too many bytes and what is not a colour', async () => {
  const { partner } = await makePartner(app.db);
  const whole = { logo: red, logo_type: 'image/png', logo_hash: '0'.repeat(16) };
  const wrong: Record<string, Buffer | string | null>[] = [
    { ...whole, logo_hash: null },
    { ...whole, logo_type: 'image/svg+xml' },
    { ...whole, logo: padded(maxLogoBytes + 1) },
    { accent: '#00aa77}body{display:none' },
  ];
  const update = (row: Record<string, unknown>) =>
    app.db.sql`update partners set ${assignment(row)} where id = ${partner.id}`;
  for (const row of wrong) await assert.rejects(update(row), { code: '23514' });
  assert.equal((await update(whole)).count, 1);
});
