import { scopeOfRequest } from '../auth/scope.ts';
import { offeredChains } from '../chain/offered.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { moveExpiry } from '../requests/move-expiry.ts';
import { readRequest } from '../requests/read.ts';
import { payInSandbox } from '../sandbox/pay.ts';
import { defaultWallet } from '../sandbox/wallet.ts';
import { sandboxChain } from './chain.ts';
import { type Arguments, type Command, UsageFault, word } from './command.ts';

/** Finds a request by its pay link or its ID. */
async function findRequest(ctx: Context, args: Arguments): Promise<{ scope: Scope; id: string }> {
  const named = word(args, 0, 'The pay link of a request, or its ID');
  const id = (/\/([0-9a-f-]{36})\/?$/i.exec(named)?.[1] ?? named).toLowerCase();
  const scope = isUuid(id) ? await scopeOfRequest(ctx.db, id) : null;
  if (!scope) throw new Error(`There is no request ${named}.`);
  return { scope, id };
}

/** The private key of the test wallet that pays: from `--private-key`, or the default one. */
export function payer(args: Arguments): `0x${string}` {
  const key = args.options['private-key'];
  if (key === undefined) return defaultWallet().privateKey;
  if (typeof key !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(key)) {
    throw new UsageFault('--private-key must be 0x and 64 hex digits.');
  }
  return key as `0x${string}`;
}

function amount(args: Arguments, dueMicro: bigint): bigint {
  const text = args.options['usdc-micro'];
  if (text === undefined) return dueMicro;
  if (typeof text !== 'string' || !/^[1-9]\d{0,29}$/.test(text)) {
    throw new UsageFault('--usdc-micro must be a whole number of micro units, at least 1.');
  }
  return BigInt(text);
}

async function pay(ctx: Context, args: Arguments): Promise<{ tx_hash: string }> {
  const { scope, id } = await findRequest(ctx, args);
  const request = await readRequest(ctx.db, scope, id);
  const chain = sandboxChain(ctx, scope.testMode);
  if (offeredChains([chain], request.wallet_chain_ids).length === 0) {
    throw new Error(
      `The merchant's wallet is a contract that was not verified on ${chain.name}, so it cannot be paid there.`,
    );
  }
  const usdcMicro = amount(args, BigInt(request.usdc_micro));
  const payment = { privateKey: payer(args), usdcMicro, tagged: !args.options.untagged };
  return { tx_hash: await payInSandbox(chain, request, payment) };
}

/** Commands that act as a customer in the sandbox. */
export const paymentCommands: Command[] = [
  {
    name: 'sandbox pay',
    usage: '<pay link or ID> [--usdc-micro N] [--private-key 0x…] [--untagged]',
    summary: 'Pays a request on the local chain with a real USDC transfer; --untagged leaves out the reference.',
    run: pay,
  },
  {
    name: 'sandbox expire',
    usage: '<pay link or ID>',
    summary: 'Expires a waiting request now.',
    run: async (ctx, args) => {
      if (!ctx.config.sandbox) throw new Error('Only a sandbox can expire a request early.');
      const { scope, id } = await findRequest(ctx, args);
      const expired = await ctx.db.scoped(scope, (tx) => moveExpiry(tx, scope, id, 0));
      if (!expired) throw new Error(`The request ${id} is no longer waiting for payment.`);
      return { request_id: id, status: expired.status, expires_at: expired.expires_at.toISOString() };
    },
  },
];
