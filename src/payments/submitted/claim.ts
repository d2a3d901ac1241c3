import { type Hex, hashTypedData } from 'viem';
import { scopeOfRequest } from '../../auth/scope.ts';
import { isKeySigned, queryContract, readSignature } from '../../chain/signature.ts';
import { walletJson } from '../../chain/typed-data.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Config } from '../../config.ts';
import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../db/conflict.ts';
import { refuse } from '../../errors.ts';
import { isHash32 } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { applyTransfer } from '../apply.ts';
import { appliedOutcome, type Outcome } from '../outcome.ts';
import { isMint, rejection } from '../rules.ts';
import { toTransfer } from '../store.ts';
import { selectTransfer, type TransferKey, type TransferRow } from '../transfers.ts';

/** As it is stored. */
const maxOrdinal = 2 ** 31 - 1;

const types = {
  Claim: [
    { name: 'host', type: 'string' },
    { name: 'request', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'transaction', type: 'bytes32' },
    { name: 'ordinal', type: 'uint256' },
  ],
} as const;

/**
 * The EIP-712 data by which the sender of a transfer states which request it pays. It names everything involved, so
 * that the signature is useless anywhere else.
 */
export function claimTypedData(config: Pick<Config, 'baseUrl'>, requestId: string, key: TransferKey) {
  return {
    domain: { name: 'Quittance', version: '1', chainId: key.chainId },
    types,
    primaryType: 'Claim' as const,
    message: {
      host: new URL(config.baseUrl).host,
      request: requestId,
      chainId: BigInt(key.chainId),
      transaction: key.txHash as Hex,
      ordinal: BigInt(key.ordinal),
    },
  };
}

/** As `claimTypedData`, in the form that wallets accept: the JSON text of `eth_signTypedData_v4`. */
export function claimTypedDataJson(config: Pick<Config, 'baseUrl'>, requestId: string, key: TransferKey): string {
  return walletJson(claimTypedData(config, requestId, key));
}

/**
 * Binds an unmatched transfer to a request by its sender's signature. The sender is a key, or a contract (ERC-1271,
 * ERC-6492) whose answer all endpoints of the chain must report alike. A mint has no sender who could sign. Otherwise
 * the transfer is matched like any other. This queries chains, so the caller limits attempts.
 *
 * @param claim hash and ordinal as `needs_signature` named them
 * @throws Refusal not_found for an unknown request
 */
export async function claim(
  ctx: Context,
  requestId: string,
  claim: TransferKey & { signature: string },
): Promise<Outcome> {
  const scope = await scopeOfRequest(ctx.db, requestId);
  if (!scope) throw refuse('not_found');
  const id = requestId.toLowerCase();
  const key: TransferKey = { chainId: claim.chainId, txHash: claim.txHash.toLowerCase(), ordinal: claim.ordinal };
  if (!isHash32(key.txHash) || key.ordinal < 0 || key.ordinal > maxOrdinal) return { kind: 'malformed' };
  const chain = findChain(ctx.chains[modeOf(scope.testMode)], key.chainId);
  const read = () => ctx.db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
  const row = chain ? await read() : null;
  if (!chain || !row) return { kind: 'not_found' };
  const known = beforeSigning(row, id, chain);
  if (known) return known;
  const signed = await isSigned(chain, row.from_address, claimTypedData(ctx.config, id, key), claim.signature);
  if (signed !== 'yes') return { kind: signed === 'no' ? 'bad_signature' : 'unavailable' };
  // Before it is verified, every endpoint must confirm it.
  const applying = { row, requestId: id, rule: 'claim', from: 'unmatched', confirmed: false, asPart: true } as const;
  const applied = await retryOnConflict(() => ctx.db.scoped(scope, (tx) => applyTransfer(tx, ctx, scope, applying)));
  if (applied.kind !== 'gone') return appliedOutcome(applied);
  // Somebody was faster: perhaps the same claim, posted twice.
  const now = await read();
  return now ? (beforeSigning(now, id, chain) ?? { kind: 'unavailable' }) : { kind: 'not_found' };
}

/** Outcomes that do not depend on the signature. */
function beforeSigning(row: TransferRow, requestId: string, chain: ChainConfig): Outcome | null {
  if (row.judged_at === null || row.request_id === requestId) return { kind: 'seen' };
  if (row.request_id !== null) return { kind: 'already_used' };
  const rejected = rejection(
    toTransfer(row),
    chain.tokens.map(({ address }) => address),
  );
  if (rejected) return { kind: rejected === 'wrong_token' ? 'wrong_token' : 'wrong_recipient' };
  return isMint(toTransfer(row)) ? { kind: 'minted', usdcMicro: BigInt(row.value) } : null;
}

async function isSigned(
  chain: ChainConfig,
  address: string,
  data: ReturnType<typeof claimTypedData>,
  typed: string,
): Promise<'yes' | 'no' | 'unknown'> {
  const signature = readSignature(typed);
  if (signature === null) return 'no';
  const signed = { address, hash: hashTypedData(data), signature };
  if (await isKeySigned(signed)) return 'yes';
  const verdict = await queryContract(chain, signed, { undeployed: true });
  if (verdict === 'accepted') return 'yes';
  return verdict === 'unreachable' ? 'unknown' : 'no';
}
