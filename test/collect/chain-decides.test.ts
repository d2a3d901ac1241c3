import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, parseAbi } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { toHex } from '../../src/chain/rpc.ts';
import { dayMs, hourMs, minuteMs } from '../../src/lib/durations.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

// What the chain knows better than the service: its own time, whose wallet is blocked, and which signatures count.

let of: CollectFixtures;
before(async () => {
  of = await collectFixtures();
});
after(() => of?.stop());
beforeEach(() => of.db.sql`delete from mails`);

const stateOf = async (plan: { id: string }) => {
  const collections = await of.collections(plan);
  return collections.map(({ state, reason, attempts }) => [state, reason, attempts]);
};
/** In whole seconds, as mandates count time. */
const inHours = (hours: number) => new Date(Math.floor(of.clock.now().getTime() / 1000) * 1000 + hours * hourMs);
const relayed = async () => (await of.db.sql`select from relay_transactions`).length;

test('The chain’s clock is behind ours → a mandate that has not begun there is put off, not counted and not mailed', async () => {
  const plan = await of.plan();
  await of.agree(plan, await of.payer(50_000_000n), { starts_at: inHours(2) });
  of.clock.forward(2 * hourMs + minuteMs);
  await of.turn();
  assert.deepEqual(await stateOf(plan), [['waiting', 'not_started', 0]]);
  assert.equal((await of.mails()).length, 0);
  await of.rpc('evm_increaseTime', [(2 * hourMs + minuteMs) / 1000]);
  await of.forward(hourMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), [['charged', null, 0]]);
});

test('The chain’s clock is ahead of ours → a mandate that has ended there is not charged: the customer is asked by link', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer, { ends_at: inHours(2) });
  await of.rpc('evm_increaseTime', [(3 * hourMs) / 1000]);
  await of.node.mine(1);
  const before = await relayed();
  await of.turn();
  assert.deepEqual(await stateOf(plan), [['asked', 'expired', 0]]);
  assert.equal((await of.mandateOf(plan)).end_reason, 'expired');
  const [request] = await of.requests(plan);
  assert.ok((await of.mails()).some(({ body }) => body.includes(`/pay/${request?.id}`)));
  assert.deepEqual([await relayed(), await of.balance(payer.address)], [before, 50_000_000n]);
  of.clock.forward(3 * hourMs);
});

/** Code of a contract wallet that accepts every signature, and of one that accepts none. */
const [acceptsAll, acceptsNone] = ['0x631626ba7e60e01b60005260206000f3', '0x60006000fd'];

test('A contract wallet does not accept a mandate’s signature any more → nothing is sent, and the attempt is counted', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.approve(payer, 50_000_000n);
  await of.agree(plan, payer, { permitMicro: null });
  await of.db.sql`update mandates set signature = ${Buffer.alloc(96, 1)} where plan_id = ${plan.id}`;
  await of.rpc('anvil_setCode', [payer.address, acceptsNone]);
  const before = await relayed();
  await of.turn();
  assert.deepEqual(await stateOf(plan), [['waiting', 'wallet_refused', 1]]);
  assert.deepEqual([await relayed(), await of.balance(payer.address)], [before, 50_000_000n]);
  assert.equal((await of.mails()).length, 1);
  await of.rpc('anvil_setCode', [payer.address, acceptsAll]);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), [['charged', null, 1]]);
});

/** Blocks a wallet for the token, or no longer. */
async function setBlocked(address: string, blocked: boolean): Promise<void> {
  const owner = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex: 8 });
  const abi = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)']);
  const functionName = blocked ? 'blacklist' : 'unBlacklist';
  const data = encodeFunctionData({ abi, functionName, args: [address as `0x${string}`] });
  await of.rpc('eth_sendTransaction', [{ from: owner.address, to: of.token, data, gas: toHex(200_000) }]);
  await of.node.mine(1);
}

test('The token’s issuer has blocked a wallet → nothing is sent, and the attempt is counted', async () => {
  const plan = await of.plan();
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer);
  await setBlocked(payer.address, true);
  const before = await relayed();
  await of.turn();
  assert.deepEqual(await stateOf(plan), [['waiting', 'wallet_refused', 1]]);
  assert.equal(await relayed(), before);
  await setBlocked(payer.address, false);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  assert.deepEqual(await stateOf(plan), [['charged', null, 1]]);
});

test('The token’s issuer has blocked the merchant or the contract → nothing is sent, no attempt is counted, and no customer is mailed', async () => {
  const [{ merchant }, payer] = [await of.merchantIn('USD'), await of.payer(50_000_000n)];
  for (const blocked of [merchant.wallet, of.contract]) {
    const plan = await of.plan({}, { scope: of.scope, merchant });
    await of.agree(plan, payer);
    await setBlocked(blocked, true);
    const [before, told] = [await relayed(), (await of.mails()).length];
    await of.turn();
    assert.deepEqual(await stateOf(plan), [['waiting', 'payee_refused', 0]]);
    assert.deepEqual([await relayed(), (await of.mails()).length], [before, told]);
    await setBlocked(blocked, false);
    await of.forward(dayMs + minuteMs);
    await of.collect();
    assert.deepEqual(await stateOf(plan), [['charged', null, 0]]);
  }
});

test('A permit was signed while a charge was on its way that did not use it → the next charge does', async () => {
  const [plan, other] = [await of.plan({ period: 'day' }), await of.plan({ firstOn: '2035-01-01' })];
  const payer = await of.payer(50_000_000n);
  await of.agree(plan, payer, { permitMicro: null });
  await of.approve(payer, 12_010_000n);
  await of.turn();
  assert.deepEqual(await stateOf(plan), [['charged', null, 0]]);
  await of.agree(other, payer); // with a permit, which is the wallet’s, for all of its plans
  await of.db.sql`
    update permits set signed_at = (select made_at from collections where plan_id = ${plan.id}) - interval '1 s'
    where payer = ${payer.address}`;
  await of.forward(dayMs);
  await of.turn();
  assert.deepEqual(await stateOf(plan), [
    ['charged', null, 0],
    ['charged', null, 0],
  ]);
});
