import {
  createPublicClient,
  getTypesForEIP712Domain,
  type Hex,
  http,
  isHex,
  recoverTypedDataAddress,
  serializeTypedData,
  size,
  type TypedData,
} from 'viem';
import { scopeOfRequest } from '../auth/scope.ts';
import type { ChainConfig } from '../chain/config.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { bind } from './bind.ts';
import { insist } from './busy.ts';
import { boundOutcome, type Outcome } from './outcome.ts';
import { flaw } from './rules.ts';
import { selectTransfer, type TransferKey, type TransferRow, toTransfer } from './store.ts';

const timeoutMs = 4_000;
/** As it is stored. */
const maxOrdinal = 2 ** 31 - 1;
/** No signature of a wallet in use comes near this, and the contracts that read it need gas for each byte. */
const maxSignatureBytes = 8_192;

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
 * The EIP-712 data by which the sender of a transfer says which request it pays. It names everything that it is about,
 * so that a signature is of no use anywhere else.
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

/** The same as wallets take it: the JSON text of `eth_signTypedData_v4`. */
export function claimTypedDataJson(config: Pick<Config, 'baseUrl'>, requestId: string, key: TransferKey): string {
  const { domain, types, primaryType, message } = claimTypedData(config, requestId, key);
  const withDomain: TypedData = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  return serializeTypedData({ domain, types: withDomain, primaryType, message });
}

/**
 * Binds an unmatched transfer to a request by the signature of its sender, a key or a contract (ERC-1271, ERC-6492).
 * Apart from that it is judged like any other. Chains are asked, so the caller limits attempts.
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
  if (!/^0x[0-9a-f]{64}$/.test(key.txHash) || key.ordinal < 0 || key.ordinal > maxOrdinal) return { kind: 'malformed' };
  const chain = ctx.chains[scope.testMode ? 'test' : 'live'].find(({ chainId }) => chainId === key.chainId);
  const row = chain ? await ctx.db.scoped(scope, (tx) => selectTransfer(tx, scope, key)) : null;
  if (!chain || !row) return { kind: 'not_found' };
  const known = beforeSigning(row, id, chain);
  if (known) return known;
  const signed = await isSigned(chain, row.from_address as Hex, claimTypedData(ctx.config, id, key), claim.signature);
  if (signed !== 'yes') return { kind: signed === 'no' ? 'bad_signature' : 'unavailable' };
  // Whether it is confirmed by a second endpoint is found out when it is settled.
  const binding = { row, requestId: id, rule: 'claim', from: 'unmatched', confirmed: false } as const;
  return boundOutcome(await insist(() => ctx.db.scoped(scope, (tx) => bind(tx, ctx, scope, binding))));
}

/** What needs no signature to be known. */
function beforeSigning(row: TransferRow, requestId: string, chain: ChainConfig): Outcome | null {
  if (row.judged_at === null || row.request_id === requestId) return { kind: 'seen' };
  if (row.request_id !== null) return { kind: 'already_used' };
  const fault = flaw(
    toTransfer(row),
    chain.tokens.map(({ address }) => address),
  );
  if (fault) return { kind: fault === 'wrong_token' ? 'wrong_token' : 'wrong_recipient' };
  return null;
}

type ClaimData = ReturnType<typeof claimTypedData>;

async function isSigned(
  chain: ChainConfig,
  address: Hex,
  data: ClaimData,
  signature: string,
): Promise<'yes' | 'no' | 'unknown'> {
  if (!isHex(signature) || size(signature) > maxSignatureBytes) return 'no';
  if ((await recover(data, signature)) === address) return 'yes';
  for (const url of chain.rpcUrls) {
    const client = createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 0 }) });
    try {
      if ((await client.getChainId()) !== chain.chainId) continue;
      return (await client.verifyTypedData({ address, ...data, signature })) ? 'yes' : 'no';
    } catch {
      // The next endpoint is asked; when none answers, the caller says so.
    }
  }
  return 'unknown';
}

async function recover(data: ClaimData, signature: Hex): Promise<string | null> {
  try {
    return (await recoverTypedDataAddress({ ...data, signature })).toLowerCase();
  } catch {
    return null; // no signature of a key: it may still be a contract's
  }
}
