import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { audit, theService } from '../../src/audit/write.ts';
import { newToken } from '../../src/auth/token.ts';
import type { Context } from '../../src/context.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { readPartner } from '../../src/partners/read.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import { type Form, readForms } from '../support/people/forms.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalPerson, portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { png } from '../support/pictures.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let ctx: Context;

before(async () => {
  app = await startApp();
  ctx = app.ctx;
  for (const [code, rate] of Object.entries({ EUR: '0.92', USD: '1', JPY: '150' })) await setRate(app.db, code, rate);
});
after(() => app?.stop());

async function newPartner() {
  const made = await makePartner(app.db);
  return { ...made, owner: await portalVisitor(ctx, app.url, made.partner.id) };
}
const acts = async (partnerId: string) => [
  ...(await app.db.sql`select * from audit_log where partner_id = ${partnerId} order by number`),
];
const main = (visitor: Visitor, over: Record<string, string> = {}, expiry = ['5', '15', '1440']) => {
  const fields = { name: 'Tills & Co', currency: 'USD', default_expiry: '5', email: 'ops@example.com', ...over };
  return postForm(app.url, visitor, '/portal/settings?mode=test', [
    ...Object.entries(fields),
    ...expiry.map((minutes): [string, string] => ['expiry', minutes]),
  ]);
};
const postBranding = (visitor: Visitor, fields: [string, string | Blob][]) =>
  postForm(app.url, visitor, '/portal/settings/look?mode=test', [...fields, ['', new Blob([])]]);
const picture = (bytes: Buffer) => new File([new Uint8Array(bytes)], 'logo.png', { type: 'image/png' });

test('settings › name, currency, expiry values, default and e-mail change together, and the log says what', async () => {
  const { partner, owner } = await newPartner();
  assert.equal((await main(owner)).location, '/portal/settings?done=saved');
  const now = await readPartner(app.db, partner.slug);
  assert.deepEqual(
    [now?.name, now?.currency, now?.allowed_expiry_minutes, now?.default_expiry_minutes, now?.email],
    ['Tills & Co', 'USD', [5, 15, 1440], 5, 'ops@example.com'],
  );
  const [row] = await acts(partner.id);
  assert.equal(row?.action, 'partner.changed');
  assert.deepEqual(JSON.parse(row?.details), {
    name: 'Tills & Co',
    currency: 'USD',
    expiry_minutes: ['5', '15', '1440'],
    default_expiry_minutes: 5,
    email: 'ops@example.com',
  });
  await main(owner);
  assert.equal((await acts(partner.id)).length, 1, 'what stood so already is no change');
  const page = await owner.open('/portal/settings');
  assert.match(page.html, /<p class="home"><a href="\/portal">Tills &amp; Co<\/a>/);
  assert.match(page.html, /value="1440" checked/);
  assert.doesNotMatch(page.html, /value="60" checked/);
  await main(owner, { email: '' });
  assert.equal((await readPartner(app.db, partner.slug))?.email, null);
});

test('settings › opened before somebody else saved them → only what is changed there is saved, also after a fault', async () => {
  const { partner, owner } = await newPartner();
  await main(owner, { currency: 'EUR', email: 'old@example.com' });
  const opened = await owner.open('/portal/settings');
  const operator = (await signInOperator(app)).visitor;
  const address = `/admin/partners/${partner.slug}`;
  const openedByOperator = await operator.open(address);
  const send = (visitor: Visitor, path: string, page: Form[], typed: Record<string, string>, expiry: string[]) =>
    postForm(app.url, visitor, path, [
      ...Object.entries({ ...page.find(({ fields }) => fields.shown_name !== undefined)?.fields, ...typed }),
      ...expiry.map((minutes): [string, string] => ['expiry', minutes]),
    ]);
  const now = async () => {
    const { name, currency, email, allowed_expiry_minutes: allowed } = (await readPartner(app.db, partner.slug)) ?? {};
    return [name, currency, email, allowed?.join()];
  };

  await main(owner, { currency: 'USD', email: 'new@example.com' }, ['5', '60']);
  const expiry = ['5', '15', '1440'];
  const refused = await send(owner, '/portal/settings?mode=test', opened.forms, { name: ' ' }, expiry);
  assert.equal(refused.status, 400);
  await send(owner, '/portal/settings?mode=test', readForms(refused.html), { name: 'A' }, expiry);
  assert.deepEqual(await now(), ['A', 'USD', 'new@example.com', '5,60']);
  const [last] = (await acts(partner.id)).slice(-1);
  assert.deepEqual(JSON.parse(last?.details), { name: 'A' });

  await send(operator, `${address}/settings`, openedByOperator.forms, { email: '' }, expiry);
  assert.deepEqual(await now(), ['A', 'USD', null, '5,60']);
  await send(operator, `${address}/settings`, openedByOperator.forms, {}, ['5', '15']);
  assert.deepEqual(await now(), ['A', 'USD', null, '5,15']);
});

test('forms › a currency that has lost its rate stays chosen until another one is, and none takes its place unseen', async () => {
  const { partner, owner } = await newPartner();
  await app.db.sql`update partners set currency = 'KWD' where id = ${partner.id}`;
  const chosen = /<option value="KWD" selected>/;
  assert.match((await owner.open('/portal/merchants')).html, chosen);
  assert.match((await owner.open('/portal/settings')).html, chosen);
  const refused = await main(owner, { currency: 'KWD' });
  assert.match(refused.html, chosen);
  assert.match(refused.html, /no exchange rate for this currency/);
  const unmade = await postForm(app.url, owner, '/portal/merchants?mode=test', [['display_currency', 'KWD']]);
  assert.match(unmade.html, /no exchange rate for this currency/);
});

test('settings › each fault is shown beside its field, typed values stay, and nothing changes', async () => {
  const { partner, owner } = await newPartner();
  const wrong: [Record<string, string>, string[], RegExp][] = [
    [{ name: ' ' }, ['5'], /Enter a name of 1 to 120 characters/],
    [{ name: '\u200b\u3164' }, ['5'], /Enter a name of 1 to 120 characters/],
    [{ name: 'x'.repeat(121) }, ['5'], /Enter a name of 1 to 120 characters/],
    [{ currency: 'XXX' }, ['5'], /no exchange rate for this currency/],
    [{}, [], /Choose at least one/],
    [{}, ['7'], /Choose at least one/],
    [{ default_expiry: '60' }, ['5', '15'], /Choose one that is selected above/],
    [{ email: 'a@b, c@d' }, ['5'], /does not look like an e-mail address/],
  ];
  for (const [over, expiry, fault] of wrong) {
    const page = await main(owner, over, expiry);
    assert.equal(page.status, 400, JSON.stringify(over));
    assert.match(page.html, fault);
    assert.match(page.html, /value="(ops@example\.com|a@b, c@d)"/);
  }
  assert.equal((await readPartner(app.db, partner.slug))?.name, partner.name);
  assert.deepEqual(await acts(partner.id), []);
});

test('the branding › a logo and a colour by one form without script; the pages have them at once', async () => {
  const { partner, owner } = await newPartner();
  const bytes = png(80, 40, [10, 120, 90]);
  const saved = await postBranding(owner, [
    ['accent', '#0A7'],
    ['logo', picture(bytes)],
  ]);
  assert.equal(saved.location, '/portal/settings?done=saved');
  const page = await owner.open('/portal/settings');
  const src =
    /<img class="logo" src="([^"]+)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail('no logo');
  const served = await fetch(new URL(src, app.url));
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), bytes);
  assert.equal((await readPartner(app.db, partner.slug))?.accent, '#00aa77');
  assert.match(page.html, /<style>:root\{--accent:/);

  // A form without a picture keeps the current one; ticking the box removes it.
  await postBranding(owner, [['accent', '#0a7']]);
  assert.ok((await readPartner(app.db, partner.slug))?.logo_hash);
  await postBranding(owner, [
    ['accent', ''],
    ['no_logo', 'yes'],
  ]);
  const none = await readPartner(app.db, partner.slug);
  assert.deepEqual([none?.accent, none?.logo_hash], [null, null]);
  assert.deepEqual(
    (await acts(partner.id)).map(({ details }) => JSON.parse(details)),
    [{ accent: '#0A7', logo: true }, { accent: '#0a7' }, { accent: null, logo: false }],
  );
});

test('the branding › no colour, no picture, one that is too large, no form at all: refused, and the branding stays', async () => {
  const { partner, owner } = await newPartner();
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
  const large = Buffer.concat([png(1, 1, [0, 0, 0]), Buffer.alloc(65 * 1024)]);
  const wrong: [[string, string | Blob][], RegExp][] = [
    [[['accent', 'red']], /Not a valid colour/],
    [[['logo', picture(svg)]], /Use a PNG, JPEG or WebP up to 64 KiB/],
    [[['logo', picture(large)]], /Use a PNG, JPEG or WebP up to 64 KiB/],
  ];
  for (const [fields, fault] of wrong) {
    const page = await postBranding(owner, fields);
    assert.equal(page.status, 400);
    assert.match(page.html, fault);
  }
  const cookie = [...owner.cookies].map((pair) => pair.join('=')).join('; ');
  const broken = await fetch(new URL('/portal/settings/look?mode=test', app.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'multipart/form-data; boundary=x' },
    body: '--y nonsense',
  });
  assert.equal(broken.headers.get('location'), '/portal/settings?done=unchanged');
  const huge = await postBranding(owner, [['logo', picture(Buffer.alloc(3 * 1024 * 1024))]]).catch(() => ({
    status: 413,
  }));
  assert.equal(huge.status, 413);
  const larger = await postBranding(owner, [['logo', picture(Buffer.alloc(200 * 1024))]]);
  assert.equal(larger.status, 400);
  assert.match(larger.html, /Use a PNG, JPEG or WebP up to 64 KiB/);
  assert.equal((await readPartner(app.db, partner.slug))?.logo_hash, null);
  assert.deepEqual(await acts(partner.id), []);
});

test('the branding › a form with files is parsed only for who is signed in and sent it, and never with many parts', async (t) => {
  const { partner, owner } = await newPartner();
  const part = '--a\r\nContent-Disposition:form-data;name="";filename=""\r\n\r\n\r\n';
  const parsed = t.mock.method(Response.prototype, 'formData');
  const cookie = [...owner.cookies].map((pair) => pair.join('=')).join('; ');
  const send = async (parts: number, headers: Record<string, string>) => {
    const { status } = await fetch(new URL('/portal/settings/look?mode=test', app.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'multipart/form-data; boundary=a', ...headers },
      body: `${part.repeat(parts)}--a--\r\n`,
    });
    return status;
  };
  assert.equal(await send(30_000, {}), 303, 'nobody is signed in');
  assert.equal(await send(3, { cookie, 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await send(30_000, { cookie }), 400);
  assert.equal(await send(300, { cookie }), 303);
  assert.equal(parsed.mock.callCount(), 0);
  assert.equal(await send(3, { cookie }), 303);
  assert.equal(parsed.mock.callCount(), 1);
  assert.deepEqual(await acts(partner.id), []);
});

test('the branding › of somebody who is not signed in no form with files is received: the answer comes before it', async () => {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const head = 'POST /portal/settings/look HTTP/1.1\r\nHost: localhost\r\nCookie: portal-session=';
  const type = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1900000';
  socket.write(`${head}${newToken()}\r\n${type}\r\n\r\n--b\r\n`);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  assert.match(String(answer), /^HTTP\/1\.1 303 .*\r\nlocation: \/portal\/sign-in\?unsaved\r\n/s);
});

test('the team › invited by mail, another role, removed at once and let in again', async () => {
  const { partner, owner } = await newPartner();
  const page = await owner.open('/portal/team');
  const invited = await owner.send(page, '/portal/team?mode=test', { email: 'New@Example.com', role: 'developer' });
  assert.match(invited.html, /The invitation was sent/);
  const [mail] = await app.db.sql`select body from mails where recipient = 'new@example.com'`;
  const link = /http\S+\/portal\/link\/\S+/.exec(mail?.body)?.[0] ?? assert.fail('no link in the mail');
  assert.ok(!invited.html.includes(link), 'only the mail holds the link');
  const guest = startVisitor(app.url);
  await guest.send(await guest.open(link), new URL(link).pathname);
  assert.equal((await guest.open('/portal/keys')).status, 200);

  const [user] = await app.db.sql`select id from users where partner_id = ${partner.id} and email = 'new@example.com'`;
  const act = (name: string, more: [string, string][] = [], id = user?.id) =>
    postForm(app.url, owner, `/portal/team/${name}?mode=test`, [['user', id], ...more]);
  for (let sent = 0; sent < 2; sent++)
    assert.equal((await act('role', [['role', 'viewer']])).location, '/portal/team?done=role_changed');
  assert.equal((await guest.open('/portal/keys')).status, 403);
  assert.equal((await act('role', [['role', 'emperor']])).status, 404);
  assert.equal((await act('remove')).location, '/portal/team?done=removed');
  assert.match((await guest.open('/portal')).html, /name="email"/, 'signed out');
  assert.match((await owner.open('/portal/team')).html, /Restore access/);
  for (let sent = 0; sent < 2; sent++) assert.equal((await act('restore')).location, '/portal/team?done=restored');
  const told = (await acts(partner.id)).map(({ action }) => action).filter((action) => action.startsWith('user.'));
  assert.deepEqual(told, ['user.invited', 'user.role_changed', 'user.disabled', 'user.enabled'], 'each change, once');

  const csv = (await owner.open('/portal/team.csv')).html.trim().split('\r\n');
  assert.equal(csv.length, 3);
  assert.ok(csv.some((line) => line.startsWith(`${user?.id},new@example.com,viewer,`)));

  const stranger = await newPartner();
  const foreign = await postForm(app.url, stranger.owner, '/portal/team/remove?mode=test', [['user', user?.id]]);
  assert.equal(foreign.location, '/portal/team?done=user_unknown');
  assert.equal((await act('remove', [], 'x')).status, 404);
});

test('the team › the only owner can be neither disabled nor given a lower role; faults of an invitation are shown beside it', async () => {
  const { partner } = await newPartner();
  await app.db.sql`delete from sessions where partner_id = ${partner.id}`;
  await app.db.sql`delete from users where partner_id = ${partner.id}`;
  const person = await portalPerson(ctx, partner.id);
  const owner = startVisitor(app.url);
  owner.cookies.set('portal-session', person.token);
  const self: [string, string] = ['user', person.userId];
  for (const [act, fields] of [
    ['remove', [self]],
    ['role', [self, ['role', 'viewer']]],
  ] as [string, [string, string][]][]) {
    const done = await postForm(app.url, owner, `/portal/team/${act}?mode=test`, fields);
    assert.equal(done.location, '/portal/team?done=last_owner', act);
    assert.match((await owner.open(done.location ?? '')).html, /This is the only owner/);
  }
  const page = await owner.send(await owner.open('/portal/team'), '/portal/team?mode=test', { email: 'nobody' });
  assert.equal(page.status, 400);
  assert.match(page.html, /does not look like an e-mail address/);
  const same = await owner.send(page, '/portal/team?mode=test', { email: person.email, role: 'viewer' });
  assert.match(same.html, /with another role/);
});

test('settings, team › for owners only', async () => {
  const { partner } = await newPartner();
  const developer = await portalVisitor(ctx, app.url, partner.id, 'developer');
  const home = (await developer.open('/portal')).html;
  for (const place of ['settings', 'team']) {
    assert.doesNotMatch(home, new RegExp(`href="/portal/${place}"`));
    assert.equal((await developer.open(`/portal/${place}`)).status, 403);
  }
  assert.equal((await developer.open('/portal/team.csv')).status, 403);
  for (const form of ['settings', 'settings/look', 'team', 'team/role', 'team/remove', 'team/restore']) {
    assert.equal((await postForm(app.url, developer, `/portal/${form}?mode=test`)).status, 403, form);
  }
  assert.deepEqual(await acts(partner.id), []);
});

test('the audit log › newest first, by filters and pages, as CSV; nobody else’s', async () => {
  const { partner, owner } = await newPartner();
  const viewer = await portalVisitor(ctx, app.url, partner.id, 'viewer');
  for (let i = 0; i < 26; i++) {
    await main(owner, { name: `Name ${i}` });
    await main(owner, { name: '<b>Bold</b>' });
  }
  const made = await postForm(app.url, owner, '/portal/keys?mode=test', [['scopes', 'requests:read']]);
  assert.equal(made.status, 200);
  const rows = (html: string) => html.split('<tr>').slice(2);
  const first = await viewer.open('/portal/audit');
  assert.equal(rows(first.html).length, 50);
  assert.match(rows(first.html)[0] ?? '', /Key created/);
  assert.match(rows(first.html)[0] ?? '', /data-name="Mode">Test/);
  assert.match(first.html, /Name<\/span> <bdi>&lt;b&gt;Bold&lt;\/b&gt;<\/bdi>/);
  const next = /href="([^"]+)" rel="next"/.exec(first.html)?.[1] ?? assert.fail('no next page');
  const second = await viewer.open(next);
  assert.equal(rows(second.html).length, 3);
  assert.match(rows(second.html).at(-1) ?? '', /Name 0/);
  const count = async (query: Record<string, string>) =>
    rows((await viewer.open(`/portal/audit?${new URLSearchParams(query)}`)).html).length;
  assert.equal(await count({ action: 'key.created' }), 1);
  const [row] = await acts(partner.id);
  assert.equal(await count({ actor: row?.actor_name, action: 'partner.changed' }), 50);
  assert.equal(await count({ actor: 'nobody' }), 0);
  assert.equal(await count({ until: '2020-01-01' }), 0);
  assert.equal(await count({ since: '2020-01-01', action: 'nonsense', after: 'x' }), 50);
  const csv = (await viewer.open('/portal/audit.csv')).html.trim().split('\r\n');
  assert.equal(csv.length, 54);
  assert.match(csv[1] ?? '', /^53,[^,]+,key\.created,key,/);
  const stranger = await newPartner();
  assert.match((await stranger.owner.open('/portal/audit')).html, /No entries match/);
});

test('the audit log › merchants, keys and users by name, each with its page where there is one', async () => {
  const { test: scope, owner } = await newPartner();
  const merchant = await makeMerchant(app.db, scope);
  await setMerchantDisabled(ctx, theService, scope, { accountId: merchant.id, by: 'partner', disabled: true });
  const stranger = await makeMerchant(app.db, (await makePartner(app.db)).test);
  await app.db.transaction(async (tx) => {
    for (const id of [merchant.id, stranger.id]) {
      await audit(ctx, tx, theService, {
        ...scope,
        action: 'wallet.released',
        object: { kind: 'wallet', id: merchant.wallet },
        details: { merchant: id },
      });
    }
  });
  await postForm(app.url, owner, '/portal/keys?mode=test', [
    ['name', 'Tills'],
    ['scopes', 'requests:read'],
  ]);
  const { html } = await owner.open('/portal/audit');
  const named = `<bdi title="${merchant.id}">Ada’s Bakery</bdi>`;
  assert.ok(html.includes(`Merchant <a href="/portal/merchants/${merchant.id}?mode=test">${named}</a>`));
  assert.ok(html.includes(`Merchant</span> ${named}`));
  assert.match(html, /Key <bdi title="[0-9a-f-]{36}">Tills<\/bdi>/);
  assert.doesNotMatch(html, new RegExp(`${stranger.id}">Ada`));
  assert.match(html, new RegExp(`title="${stranger.id}">${stranger.id.slice(0, 8)}`));
});

test('the branding › the picker sets the accent where it was moved and the text left alone; both shades used are shown', async () => {
  const { partner, owner } = await newPartner();
  const accent = async (text: string, picked: string) => {
    await postBranding(owner, [
      ['accent', text],
      ['accent_picked', picked],
    ]);
    return (await readPartner(app.db, partner.slug))?.accent;
  };
  assert.equal(await accent('', '#AA3300'), '#aa3300');
  assert.equal(await accent('#0a7', '#112233'), '#00aa77', 'what was typed wins');
  const { html } = await owner.open('/portal/settings');
  assert.match(html, /type="color"[^>]*/);
  assert.match(html, /Used on light pages: #[0-9a-f]{6}.*Used on dark pages: #[0-9a-f]{6}/s);
  assert.match(html, /<rect[^>]* fill="#[0-9a-f]{6}"/);
  assert.equal(await accent('', '#00aa77'), null, 'an emptied text takes the colour away');
});

test('the branding › a colour is taken back after a fault of the logo → it is not saved; moved instead, the new one is', async () => {
  const { partner, owner } = await newPartner();
  const send = (fields: [string, string | Blob][]) => postBranding(owner, fields);
  const accent = async () => (await readPartner(app.db, partner.slug))?.accent;
  const faulty = await send([
    ['accent', '#112233'],
    ['accent_picked', '#112233'],
    ['shown_accent', ''],
    ['logo', picture(Buffer.from('no picture'))],
  ]);
  assert.equal(faulty.status, 400);
  const [form] = readForms(faulty.html).filter(({ action }) => action.includes('/settings/look'));
  const { shown_accent, accent_picked } = form?.fields ?? {};
  assert.deepEqual([shown_accent, accent_picked], ['#112233', '#112233']);
  const again = (text: string, picked: string) =>
    send([
      ['accent', text],
      ['accent_picked', picked],
      ['shown_accent', '#112233'],
    ]);
  await again('#112233', '#445566');
  assert.equal(await accent(), '#445566');
  await again('', '#112233');
  assert.equal(await accent(), null);
});
