import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { connect, type Database } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp, testContext } from '../support/app.ts';
import { softwareDevice } from '../support/browser/passkeys.ts';
import { makePartner, setRate } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { makeOnboarded, messageOn, newAccount, signInMerchant } from '../support/people/merchants.ts';
import { invitePartnerUser, newEmail, signInPartnerUser } from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

/** What counts once is sent to two nodes at the same moment, as often as `rounds` says. */
const rounds = 5;
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let other: { db: Database; url: string; stop(): Promise<void> };

before(async () => {
  app = await startApp();
  const db = connect(app.access, { service: 4, scoped: 4 });
  const node = await buildServer(testContext(db));
  const stop = async () => {
    await node.close();
    await db.close();
  };
  other = { db, url: await node.listen({ host: '127.0.0.1', port: 0 }), stop };
  fixtures = await makePartner(app.db);
  await setRate(app.db, 'EUR', '0.92');
});
after(async () => {
  await other?.stop();
  await app?.stop();
});

/** The same browser, in front of the other node. */
function elsewhere({ cookies }: Visitor): Visitor {
  const copy = startVisitor(other.url);
  for (const [name, value] of cookies) copy.cookies.set(name, value);
  return copy;
}

/** Sends a form of a page to both nodes at once. */
async function toBoth(
  visitor: Visitor,
  page: Visit,
  end: string,
  typed: Record<string, string> = {},
): Promise<Visit[]> {
  const pages = await Promise.all([visitor, elsewhere(visitor)].map((one) => one.send(page, end, typed)));
  for (const { status, html } of pages) assert.ok(status < 500, html);
  return pages;
}

const formAt = (path: string, fields: Record<string, string> = {}) =>
  ({ forms: [{ action: path, fields }] }) as unknown as Visit;

async function count(query: Promise<{ length: number }>): Promise<number> {
  return (await query).length;
}

test('a link of an invitation → one session', async () => {
  for (let round = 0; round < rounds; round++) {
    const { user, link } = await invitePartnerUser(app.ctx, fixtures);
    const visitor = startVisitor(app.url);
    const page = await visitor.open(link);
    await toBoth(visitor, page, new URL(link).pathname);
    assert.equal(await count(app.db.sql`select from sessions where user_id = ${user.id}`), 1);
  }
});

test('a signed message of a wallet → one session', async () => {
  for (let round = 0; round < rounds; round++) {
    const merchant = await makeOnboarded(app.ctx, fixtures.test);
    const visitor = startVisitor(app.url);
    const page = await visitor.send(await visitor.open('/dashboard/sign-in'), '/wallet', {
      wallet_address: merchant.wallet,
    });
    const signature = await merchant.account.signMessage({ message: messageOn(page) });
    await toBoth(visitor, page, '/complete', { signature });
    assert.equal(await count(app.db.sql`select from sessions where account_id = ${merchant.id}`), 1);
  }
});

test('an answer of a passkey → one passkey, one session', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures);
  const device = softwareDevice('http://localhost:3000');
  const optionsAt = async (path: string) => JSON.parse((await visitor.open(`${path}/options`)).html);
  const passkey = device.make(await optionsAt('/portal/passkeys'));
  await toBoth(visitor, formAt('/portal/passkeys', { passkey, name: 'Laptop' }), '/passkeys');
  assert.equal(await count(app.db.sql`select from passkeys where user_id = ${user.id}`), 1);
  for (let round = 0; round < rounds; round++) {
    const before = await count(app.db.sql`select from sessions where user_id = ${user.id}`);
    const stranger = startVisitor(app.url);
    const shown = device.show(JSON.parse((await stranger.open('/portal/sign-in/passkey/options')).html));
    await toBoth(stranger, formAt('/portal/sign-in/passkey', { passkey: shown }), '/passkey');
    assert.equal(await count(app.db.sql`select from sessions where user_id = ${user.id}`), before + 1);
  }
});

test('wrong codes of an onboarding link → five in all', async () => {
  const email = newEmail();
  const shell = await createShell(app.ctx, theService, fixtures.test, { display_currency: 'EUR', email });
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(onboardingUrl(app.ctx.config, shell, new Date())), '/code');
  const [mail] = await app.db.sql<{ subject: string }[]>`select subject from mails where recipient = ${email}`;
  const code = mail?.subject.slice(0, 6) ?? '';
  const wrong = code === '000000' ? '000001' : '000000';
  const pages = (
    await Promise.all(Array.from({ length: 8 }, () => toBoth(visitor, page, '/email', { code: wrong })))
  ).flat();
  assert.equal(pages.filter(({ html }) => /is not correct/.test(html)).length, 5);
  for (const { html } of await toBoth(visitor, page, '/email', { code })) assert.match(html, /Too many wrong codes/);
});

test('an onboarding → completed once', async () => {
  for (let round = 0; round < rounds; round++) {
    const shell = await createShell(app.ctx, theService, fixtures.test, { display_currency: 'EUR' });
    const account = newAccount();
    const visitor = startVisitor(app.url);
    const wallet = await visitor.send(await visitor.open(onboardingUrl(app.ctx.config, shell, new Date())), '/details');
    const page = await visitor.send(wallet, '/wallet', { wallet_address: account.address });
    const signature = await account.signMessage({ message: messageOn(page) });
    await toBoth(visitor, page, '/complete', { signature, accept_terms: '1' });
    assert.equal(
      await count(app.db.sql`select from audit_log where action = 'merchant.onboarded' and object_id = ${shell.id}`),
      1,
    );
    assert.ok((await count(app.db.sql`select from sessions where account_id = ${shell.id}`)) <= 1);
  }
});

test('a form that makes a key, a secret, a request or a plan → makes one', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const keys = () => count(app.db.sql`select from api_keys where partner_id = ${fixtures.partner.id}`);
  for (let round = 0; round < rounds; round++) {
    const before = await keys();
    const page = await visitor.open('/portal/start?mode=test');
    await toBoth(visitor, page, '/portal/start/key?mode=test');
    assert.equal(await keys(), before + 1);
  }
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor: shop } = await signInMerchant(app.url, merchant.account);
  const requests = () => count(app.db.sql`select from requests where account_id = ${merchant.id}`);
  for (let round = 0; round < rounds; round++) {
    const before = await requests();
    await toBoth(shop, await shop.open('/dashboard/ask'), '/dashboard/ask', { amount: '5.00', customer_name: 'Ada' });
    await toBoth(shop, await shop.open('/dashboard/cashier'), '/dashboard/cashier', { amount: '5.00' });
    assert.equal(await requests(), before + 2);
  }
  const form = await shop.open('/dashboard/plans/new');
  const plan = { name: 'Lessons', amount: '5.00', customer_name: 'Ada', customer_email: 'ada@example.com' };
  const asked = await shop.send(form, '/dashboard/plans/new', plan);
  await toBoth(shop, asked, '/dashboard/plans/new', { step: 'start' });
  assert.equal(await count(app.db.sql`select from plans where account_id = ${merchant.id}`), 1, asked.html);
});

test('a signed message of a recovery → counts once', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { url } = await startRecovery(app.ctx, theService, fixtures.test, merchant.id);
  const account = newAccount();
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: account.address });
  const signature = await account.signMessage({ message: messageOn(page) });
  await toBoth(visitor, page, '/complete', { signature });
  assert.equal(
    await count(app.db.sql`select from audit_log where action = 'recovery.signed' and object_id = ${merchant.id}`),
    1,
  );
});

test('links of sign-ins → no more than one node would send', async () => {
  const email = newEmail();
  await invitePartnerUser(app.ctx, fixtures, 'owner', email);
  const visitor = startVisitor(app.url);
  await Promise.all(Array.from({ length: 5 }, () => toBoth(visitor, formAt('/portal/sign-in', { email }), '/sign-in')));
  assert.equal(await count(app.db.sql`select from sign_in_links where email = ${email} and user_id is null`), 5);
});
