import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { dayMs, hourMs } from '../../src/lib/durations.ts';
import { dayOf } from '../../src/lib/time.ts';
import { checkUpcomingCharges } from '../../src/plans/collect/upcoming.ts';
import { checksummed } from '../../src/ui/address.ts';
import { instantText } from '../../src/ui/formats.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

let of: CollectFixtures;
const running = new AbortController().signal;
before(async () => {
  of = await collectFixtures();
});
after(() => of?.stop());
beforeEach(async () => {
  await of.db
    .sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null where state <> 'ended'`;
  await of.db.sql`delete from mails`;
});

const look = () => checkUpcomingCharges(of.ctx, of.chain, running);
const inDays = (days: number) => dayOf(new Date(of.clock.now().getTime() + days * dayMs));
const isWarning = ({ subject }: { subject: string }) => subject.includes('check your wallet');
const warnings = async () => [...(await of.mails())].filter(isWarning);

test('A customer whose wallet holds too little is warned once, 72 hours ahead, with the wallet and the date', async () => {
  const plan = await of.plan({ firstOn: inDays(5) });
  const payer = await of.payer(1_000_000n);
  await of.agree(plan, payer);
  assert.equal(await look(), 0, 'five days ahead is too early');
  await of.forward(new Date(plan.first_on).getTime() - of.clock.now().getTime() - 71 * hourMs);
  assert.equal(await look(), 1);
  assert.equal(await look(), 0);
  await of.forward(12 * hourMs);
  assert.equal(await look(), 0);
  const [mail, ...others] = await warnings();
  assert.equal(others.length, 0);
  assert.equal(mail?.subject, 'Test: Please check your wallet: $12.00 to Ada’s Bakery');
  assert.ok(mail?.body.includes('Your wallet holds too little USDC.'), mail?.body);
  assert.ok(mail?.body.includes(checksummed(payer.address)));
  assert.ok(mail?.body.includes(instantText(wordsOf('en'), new Date(plan.first_on))), mail?.body);
  assert.ok(mail?.body.includes(`/plans/${plan.id}/`));
});

test('An allowance that will not do is warned of; a permit that is still to be used makes up for it', async () => {
  const [withPermit, without] = [await of.plan({ firstOn: inDays(2) }), await of.plan({ firstOn: inDays(2) })];
  await of.agree(withPermit, await of.payer(50_000_000n));
  assert.equal(await look(), 1);
  assert.equal((await warnings()).length, 0);
  await of.agree(without, await of.payer(50_000_000n), { permitMicro: null });
  assert.equal(await look(), 1);
  const [mail] = await warnings();
  assert.ok(mail?.body.includes('spending limit'), mail?.body);
});

test('A customer who stopped the mails, or already knows that a charge is retried, is not warned', async () => {
  const quiet = await of.plan({ firstOn: inDays(2) });
  await of.agree(quiet, await of.payer(0n));
  await of.db.sql`update plans set mails_stopped_at = now() where id = ${quiet.id}`;
  const failing = await of.plan({ period: 'day' });
  await of.agree(failing, await of.payer(0n));
  await of.turn();
  assert.equal((await of.collections(failing))[0]?.reason, 'balance_low');
  assert.equal(await look(), 2);
  assert.equal((await warnings()).length, 0);
});

test('Many wallets are looked at in turn; while the chain does not answer, none is passed over', async () => {
  for (let i = 0; i < 5; i++) await of.agree(await of.plan({ firstOn: inDays(1) }), await of.payer(0n));
  const down = { ...of.chain, rpcUrls: ['http://127.0.0.1:9'] };
  assert.equal(await checkUpcomingCharges(of.ctx, down, running), 0);
  const [a, b] = await Promise.all([look(), look()]);
  assert.equal(a + b, 5, 'each by one of two nodes');
  assert.equal((await warnings()).length, 5);
});

test('Thousands of plans in a currency without a rate are due first → the others are checked all the same', async () => {
  const dated = await of.plan({ firstOn: inDays(1), currency: 'EUR' }, await of.merchantIn('EUR'));
  await of.agree(dated, await of.payer(0n));
  await of.db.sql`delete from rate_overrides where code = 'EUR'`;
  await of.owner`
    with copies as (
      insert into plans select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'form_key', n))).*
      from plans p cross join generate_series(1, 4500) n where p.id = ${dated.id} returning id)
    insert into mandates select (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(), 'plan_id', c.id,
      'hash', sha256(c.id::text::bytea)))).*
    from mandates m cross join copies c where m.plan_id = ${dated.id}`;
  await of.agree(await of.plan({ firstOn: inDays(2) }), await of.payer(0n));
  assert.equal(await look(), 1);
  assert.equal((await warnings()).length, 1);
});
