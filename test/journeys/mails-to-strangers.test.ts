import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Actor } from '../../src/audit/actions.ts';
import { theService } from '../../src/audit/write.ts';
import { recipientSubject, takeDailyQuota, takeRecipientQuota } from '../../src/auth/daily-quota.ts';
import type { Database, Scope } from '../../src/db/connection.ts';
import { mailboxOf } from '../../src/lib/text/email.ts';
import { createShell } from '../../src/merchants/create.ts';
import { makeOnboardingToken } from '../../src/merchants/onboarding-token.ts';
import { changeProfile } from '../../src/merchants/profile.ts';
import { MerchantRefusal } from '../../src/merchants/refusal.ts';
import { sendEmailCode } from '../../src/onboarding/code.ts';
import { byLink } from '../../src/plans/collection-form.ts';
import { endPlan } from '../../src/plans/lifecycle.ts';
import { maxPlanMails } from '../../src/plans/mail-limit.ts';
import { maxPlansOfAddress } from '../../src/plans/rules.ts';
import { changeTerms } from '../../src/plans/terms.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { makeOnboarded, newAccount, signInMerchant, signOn } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { makePlan, turnAt } from '../support/plans.ts';

// A merchant may name anybody's address without proof, so the mails to such an address are limited.

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

const portalOwner: Actor = {
  kind: 'partner_user',
  userId: randomUUID(),
  email: 'o@example.com',
  role: null,
  ip: '::1',
  userAgent: '',
};
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
  for (let made = 0; made < maxPlansOfAddress; made++)
    await makeAndEnd(made % 2 ? 'asked@example.org' : 'Asked@Example.org');
  for (const spelling of ['AS.ked+2@example.org', 'ａsked@example.org']) {
    await assert.rejects(makeAndEnd(spelling), /too many plans/);
  }
  await makeAndEnd('another@example.org');
  assert.equal((await mailsTo('asked@example.org')) + (await mailsTo('Asked@Example.org')), maxPlansOfAddress);
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

test('A wallet that is changed again and again → ten times a day, each mailed to merchant and partner, then none', async () => {
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

test('A recovery that is started and cancelled again and again → five starts a day, each mailed to the merchant, then none', async () => {
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

test('A recovery that may not be started, asked for again and again → uses up none of those that may', async () => {
  const { id } = await makeOnboarded(app.ctx, scope);
  await startRecovery(app.ctx, portalOwner, scope, id);
  await app.db.sql`update wallet_changes set state = 'signed', new_wallet = '0x1', signed_at = now(), due_at = now()
    where account_id = ${id}`;
  for (let n = 0; n < 6; n++)
    await assert.rejects(startRecovery(app.ctx, portalOwner, scope, id), /A new wallet has already signed/);
  await app.db.sql`update wallet_changes set state = 'vetoed', ended_at = now() where account_id = ${id}`;
  await startRecovery(app.ctx, portalOwner, scope, id);
  const stranger = randomUUID();
  await assert.rejects(startRecovery(app.ctx, portalOwner, scope, stranger), MerchantRefusal);
  const counted = await app.db.sql`select calls from day_counters where subject in (${id}, ${stranger})`;
  assert.deepEqual([...counted], [{ calls: 2 }], 'nothing is stored of merchants that do not exist');
});

test('A change of the profile › takes no second connection while it holds one', async () => {
  const { id } = await makeOnboarded(app.ctx, scope, { email: 'before@example.com' });
  let isHeld = false;
  const db: Database = {
    ...app.db,
    sql: new Proxy(app.db.sql, {
      apply(sql, self, values) {
        assert.equal(isHeld, false, 'a second connection');
        return Reflect.apply(sql, self, values);
      },
    }),
    scoped: (of, work) =>
      app.db.scoped(of, async (tx) => {
        isHeld = true;
        return work(tx).finally(() => {
          isHeld = false;
        });
      }),
  };
  const typed = { email: 'after@example.com', display_currency: 'EUR', business_name: 'A', country: 'DE' };
  const notice = { subject: '', body: '' };
  const outcome = await changeProfile({ ...app.ctx, db }, theService, scope, { accountId: id, typed, notice });
  assert.ok('changed' in outcome && outcome.changed.includes('email'), JSON.stringify(outcome));
});

test('Profiles of many merchants that take somebody’s address and leave it → fifty mails a day, then no such change', async () => {
  const notice = { subject: 'Changed', body: '' };
  const left = async (n: number) => {
    const { id } = await makeMerchant(app.db, scope);
    let isRefused = false;
    for (let turn = 0; turn < 5; turn++) {
      await app.db.sql`update merchants set email = ${`cro.wd+${n}@example.org`} where id = ${id}`;
      const typed = { email: `own-${turn}@example.com`, display_currency: 'EUR', business_name: 'A', country: 'DE' };
      const outcome = await changeProfile(app.ctx, theService, scope, { accountId: id, typed, notice });
      if ('faults' in outcome) isRefused ||= outcome.faults.email === 'changedTooOften';
    }
    return isRefused;
  };
  assert.equal(await left(0), false);
  let refused = 0;
  for (let n = 1; n < 15; n++) if (await left(n)) refused++;
  assert.ok(refused > 0);
  const [row] = await app.db.sql`select count(*)::int as mails from mails where recipient like 'cro.wd+%'`;
  assert.ok(row?.mails > 40 && row?.mails <= 50, `${row?.mails} mails`);
});

test('Plans of many merchants of a partner › mail one address so many times a day, and no merchant’s use up the others’', async () => {
  const person = recipientSubject(app.ctx.config, scope, mailboxOf('planned@example.org'));
  await app.db.scoped(scope, async (tx) => {
    for (let n = 0; n < maxPlanMails.ofPartner - 10; n++) {
      const counted = { accountId: `merchant ${n}`, person, max: maxPlanMails };
      assert.equal(await takeRecipientQuota(tx, scope, 'plan_mail', counted), true);
    }
  });
  const mails = async () => (await app.db.sql`select from mails where recipient ilike 'pl%anned%@example.org'`).length;
  const [hostile, other] = [await makeMerchant(app.db, scope), await makeMerchant(app.db, scope)];
  for (let n = 0; n < 8; n++)
    await makePlan(app.ctx, scope, hostile, { customerEmail: `pl.anned+${n}@example.org`, ...automatic });
  assert.equal(await mails(), 5, 'half of what is left');
  const dueNow = { firstOn: '2026-01-01', maxCharges: 1, customerEmail: 'planned@example.org' };
  for (const merchant of [hostile, other]) await makePlan(app.ctx, scope, merchant, dueNow);
  assert.equal(await turnAt(app.ctx, '2026-01-01T01:00:00Z'), 2, 'charges are made all the same');
  assert.equal(await mails(), 6, 'and the other merchant’s is mailed');
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

test('One merchant’s link asks for codes again and again → ten a day, and the partner’s others are sent theirs', async () => {
  const shell = (email: string) => createShell(app.ctx, theService, scope, { display_currency: 'EUR', email });
  const hostile = await shell('one@example.org');
  const token = makeOnboardingToken(app.ctx.config.secretKeys, hostile, app.ctx.clock.now());
  const ask = async () => {
    await sendEmailCode(app.ctx, token, wordsOf('en'));
    await app.db.sql`delete from onboarding_codes where account_id = ${hostile.id}`;
  };
  for (let n = 0; n < 10; n++) await ask();
  await assert.rejects(ask(), /Too many codes were sent today/);
  const other = makeOnboardingToken(app.ctx.config.secretKeys, await shell('o.ne@example.org'), app.ctx.clock.now());
  await sendEmailCode(app.ctx, other, wordsOf('en'));
});

test('daily limits count over all nodes; a partner that has used up its own does not stop an operator’s recovery', async () => {
  const count = (action: string, subject: string) =>
    app.db.scoped(scope, (tx) => takeDailyQuota(tx, scope, action, { subject, max: 10 }));
  const { id, account } = await makeOnboarded(app.ctx, scope, { email: 'shared@example.com' });
  // The count of another node.
  for (let n = 0; n < 10; n++) await count('email_change', id);
  for (let n = 0; n < 5; n++) await count('recovery_start', id);
  const { visitor } = await signInMerchant(app.url, account);
  const page = await visitor.send(await visitor.open('/dashboard/profile'), '/profile', { email: 'next@example.com' });
  assert.match(page.html, /It was changed too often today/);
  await assert.rejects(startRecovery(app.ctx, portalOwner, scope, id), /Too many attempts/);
  await startRecovery(app.ctx, { kind: 'command_line' }, scope, id);
});
