import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { makeOnboarded, signOn } from '../support/people/merchants.ts';
import { acceptInvitation, inviteOperator, invitePartnerUser } from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;

before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const titleOf = ({ html }: Visit) => /<title>([^<]*) ·/.exec(html)?.[1];
const keep = (visitor: Visitor, area: string, path: string) =>
  visitor.cookies.set(`${area}-return`, Buffer.from(path).toString('base64url'));

/** Signs a new user of the partner in with a browser. */
async function signIn(visitor: Visitor): Promise<Visit> {
  return acceptInvitation(visitor, (await invitePartnerUser(app.ctx, fixtures)).link);
}

test('A portal page opened without a session → signing in leads to it, with its filters, once', async () => {
  const visitor = startVisitor(app.url);
  assert.match(
    (await visitor.open('/portal/requests?status=paid&done=cancelled&mode=test')).html,
    /Sign in to the portal/,
  );
  const page = await signIn(visitor);
  assert.equal(titleOf(page), 'Requests');
  assert.match(page.html, /<option value="paid" selected>/);
  assert.doesNotMatch(page.html, /The request is cancelled/);
  assert.equal(titleOf(await signIn(visitor)), 'Overview');
});

test('A page of the administration opened without a session → signing in leads to it', async () => {
  const visitor = startVisitor(app.url);
  await visitor.open('/admin/rates');
  assert.equal(titleOf(await acceptInvitation(visitor, (await inviteOperator(app.ctx)).link)), 'Rates');
});

test('A dashboard page opened without a session → signing in with the wallet leads to it', async () => {
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const visitor = startVisitor(app.url);
  const start = await visitor.open('/dashboard/unmatched');
  const page = await visitor.send(start, '/wallet', { wallet_address: account.address });
  assert.equal(titleOf(await signOn(visitor, page, account)), 'Unmatched payments');
});

test('A file or a stream without a session → signing in leads to the first page', async () => {
  for (const path of ['/portal/requests.csv', '/portal']) {
    const visitor = startVisitor(app.url);
    await visitor.open(path);
    assert.equal(titleOf(await signIn(visitor)), 'Overview', path);
  }
  const background = startVisitor(app.url, { 'sec-fetch-dest': 'empty' });
  await background.open('/portal/requests');
  assert.equal(background.cookies.has('portal-return'), false);
});

test('A form sent without a session → signing in leads to the page that it was sent from, if that is one of the area', async () => {
  for (const [referer, title] of [
    [`${app.url}/portal/team?mode=test`, 'Team'],
    ['https://evil.example/portal/team', 'Team'],
    [`${app.url}/admin/rates`, 'Overview'],
    ['nothing', 'Overview'],
  ] as const) {
    const visitor = startVisitor(app.url, { referer });
    const page = await visitor.open('/portal/sign-in');
    const form = { action: '/portal/team', fields: {} };
    await visitor.send({ ...page, forms: [form] }, '/portal/team', { email: 'x@example.com' });
    assert.equal(titleOf(await signIn(visitor)), title, referer);
  }
});

test('A dashboard form that was sent from the answer to another one → signing in leads to the page that has both', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test);
  const row = await makeRequest(app.db, fixtures.test, { id, wallet: account.address.toLowerCase() });
  const visitor = startVisitor(app.url, { referer: `${app.url}/dashboard/payments/${row.id}/cancel` });
  const page = await visitor.open('/dashboard/sign-in');
  const form = { action: '/dashboard/profile', fields: {} };
  const start = await visitor.send({ ...page, forms: [form] }, '/profile');
  const signing = await visitor.send(start, '/wallet', { wallet_address: account.address });
  assert.match(titleOf(await signOn(visitor, signing, account)) ?? '', /^Payment request/);
});

test('A kept path that is no page of the area → signing in leads to the first page', async () => {
  const elsewhere = [
    'https://evil.example/portal/',
    '//evil.example/portal/',
    '/\\evil.example/portal/',
    '/portal/../admin',
  ];
  for (const path of [...elsewhere, '/portalx', '/dashboard/payments', `/portal/${'x'.repeat(1000)}`, '']) {
    const visitor = startVisitor(app.url);
    keep(visitor, 'portal', path);
    assert.equal(titleOf(await signIn(visitor)), 'Overview', path);
  }
});
