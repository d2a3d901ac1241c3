import { randomBytes, randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mandateHash, mandateTypedData } from '../src/chain/recurring/mandate.ts';
import { callRpc, type Hex, toHex } from '../src/chain/rpc.ts';
import type { ChainConfig } from '../src/config/chains.ts';
import type { Context } from '../src/context.ts';
import { insertion } from '../src/db/sql.ts';
import { dayMs } from '../src/lib/durations.ts';
import { type MandateRow, toMandate } from '../src/plans/mandates/read.ts';
import { minter } from '../src/sandbox/usdc.ts';
import { idOf } from './fixtures.ts';

/** How many plans are due at the same time, and how many partners, each with a merchant, have them. */
export const chargeShape = { plans: 1000, partners: 10 };
const capMicro = 20_000_000n;
const batch = 200;

type Payer = { address: Hex; privateKey: Hex };

const makePayers = (): Payer[] =>
  Array.from({ length: chargeShape.plans }, () => {
    const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
    return { privateKey, address: privateKeyToAccount(privateKey).address.toLowerCase() as Hex };
  });

/** Gives each payer USDC and an allowance for the contract, as after a first charge with a permit. */
async function fundPayers(url: string, chain: ChainConfig, payers: Payer[]): Promise<void> {
  const token = chain.tokens[0]?.address as Hex;
  const contract = chain.recurringContract as Hex;
  const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);
  await callRpc(url, 'anvil_autoImpersonateAccount', [true]);
  await callRpc(url, 'evm_setAutomine', [false]);
  const send = (from: Hex, data: Hex) =>
    callRpc(url, 'eth_sendTransaction', [{ from, to: token, data, gas: toHex(150_000) }]);
  for (let at = 0; at < payers.length; at += batch) {
    for (const { address } of payers.slice(at, at + batch)) {
      await callRpc(url, 'anvil_setBalance', [address, toHex(10n ** 18n)]);
      await send(minter, encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [address, 10n * capMicro] }));
      const args = [contract, 10n * capMicro] as const;
      await send(address, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }));
    }
    for (let i = 0; i < 4; i++) await callRpc(url, 'anvil_mine', ['0x1'], 20_000);
  }
  await callRpc(url, 'anvil_autoImpersonateAccount', [false]);
}

/** Fills an empty database with plans whose customers have agreed, all due at one moment. */
export async function makeChargeFixtures(ctx: Context, url: string, chain: ChainConfig, dueAt: Date): Promise<void> {
  const { sql } = ctx.db;
  const { plans, partners } = chargeShape;
  await sql`insert into rate_overrides (code, rate) values ('USD', '1')`;
  await sql`
    insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes)
    select (${idOf('a', 0).slice(0, -12)} || lpad(n::text, 12, '0'))::uuid, 'bench-' || n, 'Partner ' || n, 'USD', '{5,15,60}', 15
    from generate_series(0, ${partners}::int - 1) n`;
  await sql`
    insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, wallet_address,
      wallet_signed_at, onboarded_at, terms_version, terms_accepted_at, created_at)
    select p.id, true, (${idOf('b', 0).slice(0, -12)} || right(p.id::text, 12))::uuid, 'Merchant', 'business', 'USD',
      '0x' || lpad(right(p.id::text, 12), 40, 'e'), now(), now(), '1', now(), now()
    from partners p`;
  await sql`insert into wallets select wallet_address, partner_id, test_mode, id, now(), now() from merchants`;
  const payers = makePayers();
  await fundPayers(url, chain, payers);
  const firstOn = dueAt.toISOString().slice(0, 10);
  const rows = payers.map((payer, n) => ({ payer, partner: n % partners, planId: randomUUID() }));
  for (let at = 0; at < plans; at += batch) {
    const part = rows.slice(at, at + batch);
    await sql`insert into plans ${insertion(
      part.map(({ partner, planId }) => ({
        ...{ partner_id: idOf('a', partner), test_mode: true, id: planId, account_id: idOf('b', partner) },
        ...{ form_key: planId, name: 'Piano lessons', fiat_int: 1200, fiat_code: 'USD', customer_name: 'Grace Hopper' },
        ...{ language: 'en', metadata: '{"order":"A-1042"}', period: 'month', every: 1, first_on: firstOn },
        ...{ next_on: firstOn, due_at: dueAt, created_at: new Date(), collect: 'automatic', cap_fiat_int: 1200 },
      })),
    )}`;
    await sql`insert into mandates ${insertion(await Promise.all(part.map((one) => signedMandate(ctx, chain, dueAt, one))))}`;
  }
}

async function signedMandate(
  ctx: Context,
  chain: ChainConfig,
  dueAt: Date,
  { payer, partner, planId }: { payer: Payer; partner: number; planId: string },
) {
  const contract = chain.recurringContract as Hex;
  const row = {
    ...{ partner_id: idOf('a', partner), test_mode: true, id: randomUUID(), plan_id: planId },
    ...{ account_id: idOf('b', partner), chain_id: chain.chainId, token_address: chain.tokens[0]?.address as Hex },
    ...{
      contract_address: contract,
      payer: payer.address,
      payee: `0x${idOf('b', partner).slice(-12).padStart(40, 'e')}`,
    },
    ...{ executor: ctx.config.relayer.signers[0]?.address as Hex, cap_micro: capMicro.toString() },
    ...{ min_interval_s: 27 * 86_400, starts_at: dueAt, ends_at: new Date(dueAt.getTime() + 900 * dayMs) },
    ...{ plan_ref: Buffer.alloc(32, 1), salt: randomBytes(32), cap_fiat_int: '1200', fiat_code: 'USD' },
    ...{ reserve_percent: 0, allowed_charges: 12, agreed_at: new Date() },
  };
  const mandate = toMandate(row as unknown as MandateRow);
  const signature = await privateKeyToAccount(payer.privateKey).signTypedData(
    mandateTypedData(mandate, chain.chainId, contract),
  );
  const bytesOf = (hex: Hex) => Buffer.from(hex.slice(2), 'hex');
  return { ...row, hash: bytesOf(mandateHash(mandate, chain.chainId, contract)), signature: bytesOf(signature) };
}
