import { randomBytes, randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { startWatching } from '../../../src/chain/reader/watcher.ts';
import { mandateHash, mandateTypedData } from '../../../src/chain/recurring/mandate.ts';
import { followRelays } from '../../../src/chain/relay/follow.ts';
import { callRpc, type Hex } from '../../../src/chain/rpc.ts';
import type { Scope } from '../../../src/db/connection.ts';
import { dayMs } from '../../../src/lib/durations.ts';
import { dayOf } from '../../../src/lib/time.ts';
import { matchPending } from '../../../src/payments/match.ts';
import { verifyFinal } from '../../../src/payments/proof/verify.ts';
import { chargeDue } from '../../../src/plans/charge.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import { onRemoved } from '../../../src/plans/collect/removed.ts';
import { collectDue } from '../../../src/plans/collect/run.ts';
import type { CollectionRow } from '../../../src/plans/collect/store.ts';
import type { NewPlan } from '../../../src/plans/form.ts';
import { upsertPermit } from '../../../src/plans/mandates/allowance-store.ts';
import { toMandate } from '../../../src/plans/mandates/read.ts';
import { insertMandate, type MandateRow } from '../../../src/plans/mandates/store.ts';
import { capMicro, shortestIntervalSeconds, validity } from '../../../src/plans/mandates/terms.ts';
import { courseOf, type PlanRow } from '../../../src/plans/read.ts';
import type { RequestRow } from '../../../src/requests/store.ts';
import * as wallet from '../../../src/sandbox/wallet.ts';
import { testConfig, testContext } from '../app.ts';
import { type TestWallet, testChain } from '../chain/chain.ts';
import { fundRelayer, lookAnew, testRelayer } from '../chain/relayer.ts';
import { testDatabase } from '../database.ts';
import { makeMerchant, makePartner, setRate } from '../fixtures.ts';
import { makePlan } from '../plans.ts';
import { until } from '../until.ts';
import { movableClock } from './pay-fixtures.ts';

const never = new AbortController().signal;

type MovableClock = ReturnType<typeof movableClock>;

type Terms = Partial<
  Pick<MandateRow, 'cap_micro' | 'min_interval_s' | 'starts_at' | 'ends_at' | 'payee' | 'executor' | 'allowed_charges'>
>;
export type CollectFixtures = Awaited<ReturnType<typeof collectFixtures>>;

/**
 * A real chain with the contract of recurring payments, its watcher, a relayer with coin, and a partner with a merchant
 * that is paid in dollars. Loops run only when a test says so.
 */
export async function collectFixtures(
  options: { endpoint?: (target: string) => Promise<string>; clock?: MovableClock } = {},
) {
  const database = await testDatabase();
  const node = await testChain();
  const target = node.chain.rpcUrls[0] ?? '';
  if (options.endpoint) node.chain.rpcUrls.splice(0, 1, await options.endpoint(target));
  const { chain } = node;
  const clock = options.clock ?? movableClock();
  const config = testConfig({ relayer: { signers: [testRelayer] } });
  const ctx = testContext(database.db, { config, chains: { test: [chain], live: [] }, clock });
  await fundRelayer({ ...chain, rpcUrls: [target] });
  await setRate(database.db, 'USD', '1');
  await setRate(database.db, 'EUR', '0.92');
  const stop = new AbortController();
  const watching = startWatching(ctx, { onRemoved: onRemoved(ctx) }, stop.signal);
  const cursor = () => database.db.sql`select from chain_cursors where chain_id = ${chain.chainId}`;
  await until(async () => (await cursor()).length > 0, 'the watcher begins');
  const { partner, test: scope, live } = await makePartner(database.db, { currency: 'USD' });
  const merchant = await makeMerchant(database.db, scope, { currency: 'USD' });
  const contract = chain.recurringContract as Hex;
  const token = chain.tokens[0]?.address as Hex;

  const fixtures = {
    ...{
      ctx,
      db: database.db,
      owner: database.owner,
      access: database.access,
      node,
      chain,
      clock,
      partner,
      scope,
      live,
      merchant,
      contract,
      token,
    },
    /** A monthly plan of 12 dollars from today on, that charges by itself once its customer has agreed. */
    plan: async (
      details: Partial<NewPlan> & { currency?: string } = {},
      of: { scope: Scope; merchant: { id: string } } = { scope, merchant },
    ) => {
      const made = await makePlan(ctx, of.scope, of.merchant, {
        fiatInt: 1200,
        currency: 'USD',
        customerEmail: 'grace@example.com',
        firstOn: dayOf(clock.now()),
        ...details,
      });
      const [plan] = await database.db.sql<PlanRow[]>`
        update plans set collect = 'automatic', cap_fiat_int = fiat_int where id = ${made.id}
        returning *, first_on::text as first_on, next_on::text as next_on`;
      return plan as PlanRow;
    },
    /** Another merchant of the partner. */
    merchantIn: async (currency: string) => ({
      scope,
      merchant: await makeMerchant(database.db, scope, { currency }),
    }),
    /** A wallet with this much USDC (micro units) and no coin. */
    payer: async (usdcMicro: bigint): Promise<TestWallet> => {
      const payer = node.wallet();
      await wallet.fund({ ...chain, rpcUrls: [target] }, payer.address, usdcMicro);
      return payer;
    },
    /** The customer signs a mandate, and a permit, by default for twelve charges. */
    agree: async (
      plan: PlanRow,
      payer: TestWallet,
      { permitMicro, ...terms }: Terms & { permitMicro?: bigint | null } = {},
    ) => {
      const scopeOfPlan = { partnerId: plan.partner_id, testMode: plan.test_mode } as Scope;
      const row = await storeMandate(scopeOfPlan, plan, payer, terms);
      const value = permitMicro === undefined ? BigInt(row.cap_micro) * 12n : permitMicro;
      if (value !== null) await storePermit(row, payer, value);
      return row;
    },
    /** Sets the contract's allowance by a transaction of the payer. */
    approve: async (payer: TestWallet, micro: bigint) => {
      const local = { ...chain, rpcUrls: [target] };
      await callRpc(target, 'anvil_setBalance', [payer.address, '0xde0b6b3a7640000']);
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, micro] });
      await wallet.sendTransaction(local, payer.privateKey, token, data);
    },
    /** Moves the clock of the service and that of the chain. */
    forward: async (ms: number) => {
      clock.forward(ms);
      await callRpc(target, 'evm_increaseTime', [Math.ceil(ms / 1000)]);
      await node.mine(1);
    },
    /** Runs every loop once, in order: requests, charges, the relayer, and the payments that it made. */
    turn: async () => {
      await chargeDue(ctx, never);
      return fixtures.collect();
    },
    /** The same without creating requests. Afterwards, what was sent is mined and final. */
    collect: async () => {
      await fixtures.follow();
      const sent = await collectDue(ctx, chain, never);
      await fixtures.follow();
      await node.mine(2);
      await fixtures.caughtUp();
      await matchPending(ctx);
      await verifyFinal(ctx);
      await fixtures.follow();
      await collectDue(ctx, chain, never);
      return sent;
    },
    follow: async () => {
      await lookAnew(database.db);
      await followRelays(ctx, chain, findOvertaken);
    },
    /** Waits until the watcher has read the chain's newest block. */
    caughtUp: () =>
      until(async () => {
        const head = (await callRpc(target, 'eth_getBlockByNumber', ['latest', false])) as { hash: string };
        return (await database.db.sql`select from chain_cursors where hash = ${head.hash}`).length > 0;
      }, 'the watcher catches up'),
    collections: (plan: { id: string }) =>
      database.db.sql<CollectionRow[]>`select * from collections where plan_id = ${plan.id} order by number`,
    requests: (plan: { id: string }) =>
      database.db.sql<RequestRow[]>`
        select r.* from requests r join plan_charges c on c.request_id = r.id
        where c.plan_id = ${plan.id} order by c.number`,
    mandateOf: async (plan: { id: string }) => {
      const [row] = await database.db.sql<MandateRow[]>`
        select * from mandates where plan_id = ${plan.id} order by agreed_at desc limit 1`;
      return row as MandateRow;
    },
    mails: (recipient = 'grace@example.com') =>
      database.db.sql<{ subject: string; body: string; purpose: string }[]>`
        select subject, body, purpose from mails where recipient = ${recipient} order by created_at, id`,
    balance: (address: string) => wallet.usdcBalance({ ...chain, rpcUrls: [target] }, address),
    rpc: (method: string, params: unknown[] = []) => callRpc(target, method, params),
    stop: async () => {
      stop.abort();
      await watching;
      await node.stop();
      await database.drop();
    },
  };

  async function storeMandate(scopeOfPlan: Scope, plan: PlanRow, payer: TestWallet, terms: Terms): Promise<MandateRow> {
    const course = { ...courseOf(plan), nextOn: plan.next_on ?? plan.first_on };
    const merchantWallet = await database.db.sql`select wallet_address from merchants where id = ${plan.account_id}`;
    const unsigned = {
      ...{ id: randomUUID(), plan_id: plan.id, account_id: plan.account_id, chain_id: chain.chainId },
      ...{ token_address: token, contract_address: contract, payer: payer.address },
      ...{ payee: merchantWallet[0]?.wallet_address as Hex, executor: testRelayer.address },
      cap_micro: capMicro({ fiatInt: BigInt(plan.fiat_int), exponent: 2, reservePercent: 0 }, '1').toString(),
      min_interval_s: shortestIntervalSeconds(courseOf(plan)),
      ...asRow(validity(course, clock.now())),
      ...{ plan_ref: Buffer.alloc(32, 1), salt: randomBytes(32), hash: Buffer.alloc(32), signature: Buffer.alloc(65) },
      ...{ cap_fiat_int: plan.fiat_int, fiat_code: plan.fiat_code, reserve_percent: 0, allowed_charges: 12 },
      agreed_at: clock.now(),
      ...terms,
    };
    const mandate = toMandate(unsigned as unknown as MandateRow);
    const account = privateKeyToAccount(payer.privateKey);
    const signature = await account.signTypedData(mandateTypedData(mandate, chain.chainId, contract));
    const signed = { hash: bytesOf(mandateHash(mandate, chain.chainId, contract)), signature: bytesOf(signature) };
    return database.db.scoped(scopeOfPlan, (tx) => insertMandate(tx, scopeOfPlan, { ...unsigned, ...signed }));
  }

  async function storePermit(row: MandateRow, payer: TestWallet, value: bigint): Promise<void> {
    const deadline = BigInt(Math.floor((clock.now().getTime() + 30 * dayMs) / 1000));
    const nonces = `0x7ecebe00${payer.address.slice(2).padStart(64, '0')}`;
    const nonce = BigInt((await callRpc(target, 'eth_call', [{ to: token, data: nonces }, 'latest'])) as string);
    const signature = await privateKeyToAccount(payer.privateKey).signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: chain.chainId, verifyingContract: token },
      types: { Permit: permitFields },
      primaryType: 'Permit',
      message: { owner: payer.address, spender: contract, value, nonce, deadline },
    });
    const key = { chainId: chain.chainId, token, payer: row.payer, contract };
    await upsertPermit(database.db.sql, key, {
      ...{ value: value.toString(), nonce: nonce.toString(), deadline: deadline.toString() },
      ...{ signature: bytesOf(signature), signed_at: clock.now() },
    });
  }

  await fixtures.follow();
  return fixtures;
}

const permitFields = [
  { name: 'owner', type: 'address' },
  { name: 'spender', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
];

const bytesOf = (hex: Hex) => Buffer.from(hex.slice(2), 'hex');
const asRow = ({ startsAt, endsAt }: { startsAt: Date; endsAt: Date }) => ({ starts_at: startsAt, ends_at: endsAt });
