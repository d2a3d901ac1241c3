import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Actor } from '../../src/audit/actions.ts';
import { theService } from '../../src/audit/write.ts';
import { countOfDay } from '../../src/auth/count.ts';
import type { Scope } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { makeOnboardingToken } from '../../src/merchants/onboarding-token.ts';
import { sendEmailCode } from '../../src/onboarding/code.ts';
import { endPlan } from '../../src/plans/change.ts';
import { byLink } from '../../src/plans/collection-form.ts';
import { mostPlansOfAddress } from '../../src/plans/rules.ts';
import { changeTerms } from '../../src/plans/terms.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { makeOnboarded, newAccount, signInMerchant, signOn } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { makePlan } from '../support/plans.ts';

// A merchant may name anybody's address, and nobody has proved it. What such an address is sent has a limit.

let app: Awaited<ReturnType<typeof startApp>>;
let scope: Scope;
let partner: { id: string };
const partnerMail = 'partner@example.com';
before(async () => {
  app = await startApp();
  await setRate(app.db, 'EUR', '0.92');
  ({ partner, test: scope } = await makePartner(app.db, { email: partnerMail }));
});
after(() => app?.stop());

async function mailsTo(recipient: string): Promise<number> {
  const [row] = await app.db.sql<{ count: number }[]>`
    select count(*)::int as count from mails where recipient = ${recipient}`;
  return row?.count ?? 0;
}

const automatic = { collect: 'automatic', capFiatInt: 8000, reservePercent: 10, afterPastDue: 'link' } as const;

test('A profile that takes somebody’s address and leaves it again and again → ten changes a day, then none', async () => {
  const { id, account } = await makeOnboarded(app.ctx, scope);
  const { visitor } = await signInMerchant(app.url, account);
  const form = await visitor.open('/dashboard/profile');
  let page: Visit = form;
  for (let turn = 0; turn < 8; turn++) {
    for (const email of ['stranger@example.org', `own-${turn}@example.com`]) {
      page = await visitor.send(form, '/profile', { email, industry: 'Bakery' });
    }
  }
  assert.equal(page.status, 400);
  assert.match(page.html, /It was changed too often today/);
  assert.match(page.html, /value="own-7@example.com"/);
  assert.equal(await mailsTo('stranger@example.org'), 5);
  const saved = await visitor.send(form, '/profile', { email: 'stranger@example.org', industry: 'Café' });
  assert.match(saved.html, /Your profile was saved/);
  const [row] = await app.db.sql`select email, industry from merchants where id = ${id}`;
  assert.deepEqual(row, { email: 'stranger@example.org', industry: 'Café' });
});

test('Plans that ask an address, ended at once to make others → as many a day as may be open for one address', async () => {
  const merchant = await makeMerchant(app.db, scope);
  const plan = { firstOn: '2030-01-01', ...automatic };
  const makeAndEnd = async (customerEmail: string) => {
    const { id } = await makePlan(app.ctx, scope, merchant, { ...plan, customerEmail });
    await endPlan(app.ctx, theService, { scope, accountId: merchant.id, id });
  };
  for (let made = 0; made < mostPlansOfAddress; made++)
    await makeAndEnd(made % 2 ? 'asked@example.org' : 'Asked@Example.org');
  for (const spelling of ['AS.ked+2@example.org', 'ａsked@example.org']) {
    await assert.rejects(makeAndEnd(spelling), /too many plans/);
  }
  await makeAndEnd('another@example.org');
  assert.equal((await mailsTo('asked@example.org')) + (await mailsTo('Asked@Example.org')), mostPlansOfAddress);
  await app.db.sql`update plans set created_at = created_at - interval '25 hours' where account_id = ${merchant.id}`;
  await makeAndEnd('asked@example.org');
});

test('A plan that is paid by link, then automatically, then by link again → its customer is asked a few times a day', async () => {
  const merchant = await makeMerchant(app.db, scope);
  const { id } = await makePlan(app.ctx, scope, merchant, { customerEmail: 'flip@example.org', ...automatic });
  const plan = { scope, accountId: merchant.id, id };
  for (let turn = 0; turn < 8; turn++) {
    for (const collection of [byLink, automatic]) {
      assert.equal(await changeTerms(app.ctx, theService, plan, { fiatInt: 8000, ...collection }, 'EUR'), true);
    }
  }
  assert.equal(await mailsTo('flip@example.org'), 5);
});

test('A wallet that is changed again and again → ten times a day, each told to merchant and partner, then none', async () => {
  const { id, account } = await makeOnboarded(app.ctx, scope, { email: 'merchant@example.com' });
  const before = await mailsTo(partnerMail);
  const { visitor } = await signInMerchant(app.url, account);
  let [present, next] = [account, newAccount()];
  const change = async () => {
    const start = await visitor.open('/dashboard/wallet');
    const first = await visitor.send(start, '/hand-over', { wallet_address: next.address });
    return signOn(visitor, await signOn(visitor, first, present), next);
  };
  for (let made = 0; made < 10; made++) {
    assert.equal((await change()).status, 200);
    [present, next] = [next, newAccount()];
  }
  const page = await change();
  assert.equal(page.status, 429);
  assert.match(page.html, /Your wallet was changed too often today/);
  const [row] = await app.db.sql`select wallet_address from merchants where id = ${id}`;
  assert.equal(row?.wallet_address, present.address.toLowerCase());
  assert.equal((await mailsTo(partnerMail)) - before, 10);
});

test('A recovery that is started and cancelled again and again → five starts a day, each told to the merchant, then none', async () => {
  const { id } = await makeOnboarded(app.ctx, scope, { email: 'recovering@example.com' });
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const before = await mailsTo('recovering@example.com');
  const start = async () => {
    const page = await owner.open(`/portal/merchants/${id}`);
    return owner.send(page, '/recover?mode=test');
  };
  for (let made = 0; made < 5; made++) {
    const started = await start();
    assert.match(started.html, /Recovery started.*data-copy="[^"]*\/recover\//s);
    await owner.send(started, '/recover/cancel?mode=test');
  }
  assert.match((await start()).html, /a recovery of this merchant was started too often today/);
  assert.equal((await mailsTo('recovering@example.com')) - before, 10);
  const [row] = await app.db
    .sql`select count(*)::int as open from wallet_changes where account_id = ${id} and state = 'started'`;
  assert.equal(row?.open, 0);
});

test('Many merchants are named with one address, and each of their links asks for codes → 50 a day of a partner', async () => {
  const ask = async (of: Scope, email: string) => {
    const merchant = await createShell(app.ctx, theService, of, { display_currency: 'EUR', email });
    const token = makeOnboardingToken(app.ctx.config.secretKeys, merchant, app.ctx.clock.now());
    return sendEmailCode(app.ctx, token, wordsOf('en'));
  };
  for (let i = 0; i < 50; i++) await ask(scope, i % 2 ? 'coded@example.org' : 'Co.ded+1@example.org');
  await assert.rejects(ask(scope, 'coded@example.org'), /Too many codes were sent today/);
  await ask(scope, 'another@example.com');
  const { test: other } = await makePartner(app.db);
  await ask(other, 'coded@example.org');
  assert.equal((await mailsTo('coded@example.org')) + (await mailsTo('Co.ded+1@example.org')), 51);
});

test('The limits of a day hold over all nodes together, and a partner keeps no operator from a recovery', async () => {
  const count = (action: string, subject: string) => countOfDay(app.db.sql, { partnerId: partner.id, subject, action });
  const { id, account } = await makeOnboarded(app.ctx, scope, { email: 'shared@example.com' });
  // What another node has counted.
  for (let n = 0; n < 10; n++) await count('email_change', id);
  for (let n = 0; n < 5; n++) await count('recovery_start', id);
  const { visitor } = await signInMerchant(app.url, account);
  const page = await visitor.send(await visitor.open('/dashboard/profile'), '/profile', { email: 'next@example.com' });
  assert.match(page.html, /It was changed too often today/);
  const owner: Actor = { kind: 'partner_user', userId: randomUUID(), email: 'o@example.com', ip: '::1', userAgent: '' };
  await assert.rejects(startRecovery(app.ctx, owner, scope, id), /Too many attempts/);
  await startRecovery(app.ctx, { kind: 'command_line' }, scope, id);
});
