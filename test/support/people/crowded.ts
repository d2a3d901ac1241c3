import { randomBytes } from 'node:crypto';
import { theService } from '../../../src/audit/write.ts';
import { raiseAlarm } from '../../../src/db/alarms.ts';
import { setMerchantDisabled } from '../../../src/merchants/disable.ts';
import { setBranding } from '../../../src/partners/branding.ts';
import { readPartner } from '../../../src/partners/read.ts';
import { setPartnerSettings } from '../../../src/partners/settings.ts';
import type { Partner } from '../../../src/partners/store.ts';
import { rateSources } from '../../../src/rates/providers.ts';
import { manualRefresh } from '../../../src/rates/refresh.ts';
import { createDeliveryDeps } from '../../../src/webhooks/deliver.ts';
import { setUrl } from '../../../src/webhooks/endpoint.ts';
import { deliverDue } from '../deliver-due.ts';
import { makeKey, makeMerchant, makePartner, makeRequest } from '../fixtures.ts';
import { makePlan } from '../plans.ts';
import { type DashboardFixtures, dashboardFixtures } from './dashboard.ts';
import { inviteOperator, invitePartnerUser } from './people.ts';

/** Names as people give them, short and long. */
export const longName = 'Vereinigte Bäckereien und Konditoreien der Oberlausitz e. G.';
const names = [longName, 'Jo', 'Ada’s Bakery', 'مقهى الساعة القديمة في وسط المدينة', '株式会社さくら商店', 'Kiosk 24'];
/** Amounts in currencies of every exponent, small and large. */
const amounts: [fiatInt: number, code: string][] = [
  [166_220, 'NOK'],
  [1_234_567, 'KWD'],
  [4_750, 'JPY'],
  [38_000_000, 'UGX'],
  [99_999_990, 'EUR'],
  [1_250, 'EUR'],
  [250_050, 'HUF'],
  [710, 'CHF'],
];
const memos = [
  'Two loaves',
  null,
  'A table for six on the terrace, with the cake that was ordered on Tuesday',
  'Invoice 7',
];

/**
 * The data of a partner, its merchants and the operator after some weeks: long and short names, many currencies,
 * payments that need a decision, a webhook that fails.
 */
export async function crowdedFixtures() {
  const fixtures = await dashboardFixtures();
  const { ctx, db, scope, merchant, node } = fixtures;
  const partner = await partnerOf(fixtures);
  await setBranding(ctx, theService, partner.slug, { name: 'Corner Shops Ltd' });
  await manualRefresh(ctx, theService, rateSources(['fixed']), { id: scope.partnerId, slug: partner.slug });
  await setUrl(ctx, theService, scope, 'https://hooks.corner-shops.example/quittance/v1/payments');

  const merchants: { id: string; wallet: string }[] = [merchant];
  for (const name of names) {
    const one = await makeMerchant(db, scope);
    await db.sql`update merchants set business_name = ${name}, email = ${`accounts+${one.id.slice(0, 8)}@example.com`}
      where id = ${one.id}`;
    merchants.push(one);
  }
  for (const [i, [fiatInt, fiatCode]] of amounts.entries()) {
    for (const one of [merchant, merchants[1 + (i % names.length)] ?? merchant]) {
      const memo = memos[i % memos.length] ?? null;
      const exactMicro = BigInt(fiatInt) * 10_000n + (i % 2 === 0 ? 0n : 10n * BigInt(i));
      await makeRequest(db, scope, one, { fiatInt, fiatCode, memo, exactMicro, rateSource: 'fixed' });
    }
  }
  const paid = await fixtures.request({ exactMicro: 1_662_201_030n, fiatInt: 166_220, fiatCode: 'NOK', memo: 'Paid' });
  const part = await fixtures.request({ exactMicro: 38_000_001n, customerName: longName, paymentMode: 'invoice' });
  await fixtures.pay(paid);
  await fixtures.pay(paid);
  await fixtures.pay(part, { usdcMicro: 12_000_050n });
  await fixtures.pay(part, { usdcMicro: 1_234_500_010n, tagged: false });
  await node.mine(4);
  await fixtures.turn();
  await fixtures.turn();
  await deliverDue(ctx, createDeliveryDeps(ctx));
  const [delivery] = await db.sql<{ id: string }[]>`select id from webhook_deliveries where request_id = ${paid.id}`;

  await workTogether(fixtures, partner, merchants[1]?.id ?? '');
  const plan = await makePlan(ctx, scope, merchant, { name: 'Piano lessons for the whole family, on Thursdays' });
  return { ...fixtures, partner, paid, part, plan, long: merchants[1]?.id ?? '', deliveryId: delivery?.id ?? '' };
}

export type CrowdedFixtures = Awaited<ReturnType<typeof crowdedFixtures>>;

async function partnerOf({ db, scope }: DashboardFixtures): Promise<Partner> {
  const [row] = await db.sql<{ slug: string }[]>`select slug from partners where id = ${scope.partnerId}`;
  const partner = await readPartner(db, row?.slug ?? '');
  if (!partner) throw new Error('no partner');
  return partner;
}

/** Makes users, keys, switches and settings, all with audit entries, and things that wait for the operator. */
async function workTogether({ ctx, db, scope }: DashboardFixtures, partner: Partner, off: string): Promise<void> {
  for (const role of ['owner', 'developer', 'viewer'] as const) {
    const email = `${role}.with-a-long-name.${randomBytes(3).toString('hex')}@accounts.corner-shops.example`;
    await invitePartnerUser(ctx, { partner, test: scope, live: scope }, role, email);
  }
  await inviteOperator(ctx);
  for (let i = 0; i < 3; i++) await makeKey(db, scope);
  await setMerchantDisabled(ctx, theService, scope, { accountId: off, by: 'operator', disabled: true });
  await setPartnerSettings(ctx, theService, partner.slug, {
    name: 'Corner Shops Ltd',
    currency: 'NOK',
    allowed_expiry_minutes: [5, 15, 60, 1440],
    default_expiry_minutes: 15,
    email: 'payments-and-accounting@corner-shops.example',
  });
  for (const name of ['United Bakers and Confectioners of the Northern Counties', 'Ny']) {
    const other = await makePartner(db);
    await setBranding(ctx, theService, other.partner.slug, { name });
    await makeMerchant(db, other.live);
  }
  const fault = 'connect ECONNREFUSED 10.0.0.7:587';
  await raiseAlarm(db.sql, { kind: 'mail_failing', subject: '', details: { fault } });
}
