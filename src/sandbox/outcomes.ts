import { offeredChains } from '../chain/offered.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { minuteMs } from '../lib/durations.ts';
import { pause } from '../lib/time.ts';
import { readProgress } from '../payments/proof/progress.ts';
import { graceMs } from '../payments/rules.ts';
import { submitHash } from '../payments/submitted/submit.ts';
import { moveExpiry } from '../requests/move-expiry.ts';
import { readRequest } from '../requests/read.ts';
import type { RequestRow } from '../requests/store.ts';
import { fundLookalike, lookalikeAddress, lookalikeTransfer } from './lookalike.ts';
import { payInSandbox } from './pay.ts';
import { freshWallet, reorgAway, sendAhead, sendReverting, whileRehearsing } from './rehearsal.ts';
import { fund, sendTransaction } from './wallet.ts';

/** The outcomes that a test payment can have. */
export const sandboxOutcomes = [
  'exact',
  'too_little',
  /** The missing amount. */
  'rest',
  'too_much',
  /** Within 30 minutes after expiry: counts. */
  'late',
  /** More than 30 minutes after expiry: unmatched. */
  'too_late',
  /** A fake token with the name USDC. */
  'wrong_token',
  /** USDC on the chain of the other mode. */
  'wrong_network',
  /** Mined but reverted. */
  'failed',
  /** Attached, then removed by a reorganisation. */
  'reorganised',
  /** In the mempool for some seconds, then mined. */
  'pending',
] as const;
export type SandboxOutcome = (typeof sandboxOutcomes)[number];

/** Why a test payment was not made, or did not have its outcome. */
export class SandboxRefusal extends Error {
  /**
   * `busy`: another rehearsal held the chain for too long. `not_attached`: the service did not see the payment in time,
   * or it was final before it could be undone.
   */
  readonly reason: 'already_paid' | 'voided' | 'nothing_missing' | 'busy' | 'not_attached';
  constructor(reason: SandboxRefusal['reason']) {
    super(`the rehearsal is refused: ${reason}`);
    this.reason = reason;
  }
}

const surplusMicro = 1_000_000n;
/** How long a pending payment stays in the mempool. */
const heldMs = 5_000;
/** How long to wait until a payment is attached; shorter than the lease for rehearsals. */
const attachLimitMs = 6_000;

type Rehearsal = { ctx: Context; scope: Scope; request: RequestRow; chain: ChainConfig };

/**
 * Pays a request of the sandbox's test mode from a new test wallet, with real transactions on a local chain, so that it
 * reaches the wanted outcome. Payments on one chain wait for each other.
 *
 * @returns the transaction that was sent, mined except for `pending`
 * @throws Refusal not_found outside the sandbox's test mode, and for an unknown request
 * @throws SandboxRefusal if the request's state does not allow it, or another reason of that class
 */
export async function sandboxOutcome(
  ctx: Context,
  scope: Scope,
  requestId: string,
  outcome: SandboxOutcome,
): Promise<{ txHash: string; chainId: number }> {
  const isOffered = ctx.config.sandbox && ctx.config.chains === null && scope.testMode;
  if (!isOffered) throw refuse('not_found');
  const request = await readRequest(ctx.db, scope, requestId);
  const offered = offeredChains(ctx.chains.test, request.wallet_chain_ids);
  const [chain] = outcome === 'wrong_network' ? ctx.chains.live : offered;
  if (!chain) throw refuse('not_found');
  const done = await whileRehearsing(ctx.db, chain, () => rehearse({ ctx, scope, request, chain }, outcome));
  if (!done) throw new SandboxRefusal('busy');
  return { txHash: done.result, chainId: chain.chainId };
}

async function rehearse(rehearsal: Rehearsal, outcome: SandboxOutcome): Promise<string> {
  const dueMicro = BigInt(rehearsal.request.usdc_micro);
  switch (outcome) {
    case 'exact':
    case 'wrong_network':
      return pay(rehearsal, dueMicro);
    case 'too_little':
      return pay(rehearsal, ((await missing(rehearsal)) + 1n) / 2n);
    case 'rest':
      return pay(rehearsal, await missing(rehearsal));
    case 'too_much':
      return pay(rehearsal, dueMicro + surplusMicro);
    case 'late':
      return payExpired(rehearsal, 1);
    case 'too_late':
      return payExpired(rehearsal, graceMs / minuteMs + 1);
    case 'wrong_token':
      return payLookalike(rehearsal);
    case 'failed':
      return payInVain(rehearsal);
    case 'reorganised':
      return payAndUndo(rehearsal);
    case 'pending':
      return payLater(rehearsal);
  }
}

function pay({ chain, request }: Rehearsal, usdcMicro: bigint): Promise<string> {
  return payInSandbox(chain, request, { privateKey: freshWallet().privateKey, usdcMicro, tagged: true });
}

async function missing({ ctx, scope, request }: Rehearsal): Promise<bigint> {
  const { missingMicro } = await readProgress(ctx, scope, request.id);
  if (missingMicro === 0n) throw new SandboxRefusal('nothing_missing');
  return missingMicro;
}

async function payExpired(rehearsal: Rehearsal, minutesAgo: number): Promise<string> {
  const { ctx, scope, request } = rehearsal;
  const expired = await ctx.db.scoped(scope, (tx) => moveExpiry(tx, scope, request.id, minutesAgo));
  if (!expired) throw new SandboxRefusal(request.status === 'voided' ? 'voided' : 'already_paid');
  return pay(rehearsal, BigInt(request.usdc_micro));
}

async function payLookalike({ chain, request }: Rehearsal): Promise<string> {
  const { privateKey, address } = freshWallet();
  const micro = BigInt(request.usdc_micro);
  await fund(chain, address, 0n);
  await fundLookalike(chain, address, micro);
  return sendTransaction(chain, privateKey, lookalikeAddress, lookalikeTransfer(request.wallet_address, micro));
}

/** Pays from a wallet that has only gas money, so the transfer reverts, and submits the hash as a wallet page does. */
async function payInVain({ ctx, chain, request }: Rehearsal): Promise<string> {
  const { privateKey, address } = freshWallet();
  await fund(chain, address, 0n);
  const payment = toPayment(request, privateKey);
  const txHash = await sendReverting(chain, payment);
  await submitHash(ctx, request.id, { chainId: chain.chainId, txHash });
  return txHash;
}

async function payAndUndo(rehearsal: Rehearsal): Promise<string> {
  const { ctx, scope, request, chain } = rehearsal;
  if (request.proof_status !== 'none') throw new SandboxRefusal('already_paid');
  if (request.status === 'voided') throw new SandboxRefusal('voided');
  const txHash = await pay(rehearsal, BigInt(request.usdc_micro));
  for (const deadline = performance.now() + attachLimitMs; performance.now() < deadline; ) {
    const { proof_status } = await readRequest(ctx.db, scope, request.id);
    if (proof_status === 'verified') break;
    if (proof_status === 'attached') {
      await reorgAway(chain, txHash);
      return txHash;
    }
    await pause(50);
  }
  throw new SandboxRefusal('not_attached');
}

/** Submits the hash of a payment that cannot be mined yet, and releases it 5 s later, even if the page was closed. */
async function payLater({ ctx, chain, request }: Rehearsal): Promise<string> {
  const { privateKey, address } = freshWallet();
  await fund(chain, address, BigInt(request.usdc_micro));
  const { txHash, release } = await sendAhead(chain, toPayment(request, privateKey));
  await submitHash(ctx, request.id, { chainId: chain.chainId, txHash });
  setTimeout(() => {
    release().catch((error) => ctx.log.warn({ err: error, tx: txHash }, 'a payment that was held back is stuck'));
  }, heldMs).unref();
  return txHash;
}

function toPayment(request: RequestRow, privateKey: `0x${string}`) {
  const { wallet_address: to, usdc_micro, reference } = request;
  return { privateKey, to, usdcMicro: BigInt(usdc_micro), reference };
}
