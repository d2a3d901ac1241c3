import { connectRpc, type Hex, nullOfRpc } from '../../chain/rpc.ts';
import { isAuthorizationUsed } from '../../chain/token-domain.ts';
import { walletJson } from '../../chain/typed-data.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isZeroAddress } from '../../lib/ids.ts';
import { authorizationNonce } from '../../requests/authorization-nonce.ts';
import type { RequestRow } from '../../requests/store.ts';
import { authorizationTypedData } from './authorization.ts';
import type { AuthorizedOffer } from './offer.ts';
import { validUntil } from './rules.ts';
import { selectExecuted } from './store.ts';

/** What a wallet signs to pay a request, and what is known of the wallet. */
export type Prepared =
  | {
      kind: 'ready';
      /** The JSON of `eth_signTypedData_v4`. */
      typedData: string;
      nonce: Hex;
      validBefore: bigint;
      /** Whether it holds no coin for fees; null if that is unknown, or if others may pay them for it. */
      lacksCoin: boolean | null;
    }
  /** The authorization it would sign was already executed or cancelled. A transfer it made is about to be read. */
  | { kind: 'used' }
  /** The request ends too soon, or this wallet cannot pay it. */
  | { kind: 'closed' }
  | { kind: 'unreachable' };

const timeoutMs = 3_000;
/** The gas that an ordinary transfer uses. */
const transferGas = 65_000n;

/**
 * Makes the authorization that a wallet signs. Its nonce names the request, with the first counter that this wallet has
 * not used for it. So after a failure the wallet signs again under the same nonce, and the token can never execute
 * both.
 *
 * @param from the wallet that pays, in lower case
 */
export async function prepareAuthorization(
  ctx: Context,
  scope: Scope,
  request: RequestRow,
  offer: AuthorizedOffer,
  from: Hex,
): Promise<Prepared> {
  const { chain, token, amountMicro, domain } = offer;
  const until = validUntil(request.expires_at, ctx.clock.now());
  if (!until || from === request.wallet_address || isZeroAddress(from)) return { kind: 'closed' };
  const wallet = { chainId: chain.chainId, tokenAddress: token.address, authorizer: from };
  const executed = await ctx.db.scoped(scope, (tx) => selectExecuted(tx, scope, request.reference, wallet));
  const nonce = firstUnused(request.reference, executed);
  const [used, lacksCoin] = await Promise.all([
    isUsed(offer, from, nonce),
    hasNoCoin(offer.chain.rpcUrls[0] ?? '', from),
  ]);
  if (used === null) return { kind: 'unreachable' };
  if (used) return { kind: 'used' };
  const validBefore = BigInt(until.getTime() / 1000);
  const to = request.wallet_address as Hex;
  const terms = { from, to, valueMicro: amountMicro, validAfter: 0n, validBefore, nonce };
  const place = { chainId: chain.chainId, address: token.address, domain };
  return { kind: 'ready', typedData: walletJson(authorizationTypedData(place, terms)), nonce, validBefore, lacksCoin };
}

function firstUnused(reference: Uint8Array, executed: readonly Buffer[]): Hex {
  for (let counter = 0; ; counter++) {
    const nonce = authorizationNonce(reference, counter);
    if (!executed.some((one) => one.equals(nonce))) return `0x${nonce.toString('hex')}`;
  }
}

async function isUsed({ chain, token }: AuthorizedOffer, authorizer: Hex, nonce: Hex): Promise<boolean | null> {
  try {
    return await isAuthorizationUsed(chain, { token: token.address, authorizer, nonce });
  } catch (error) {
    return nullOfRpc(error);
  }
}

/** Null also for a contract wallet: others may pay its fees, or it pays in another coin. */
async function hasNoCoin(url: string, from: Hex): Promise<boolean | null> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const [balanceWei, code, { baseFeeWei }] = await Promise.all([
      rpc.balance(from),
      rpc.code(from),
      rpc.feeHistory(1),
    ]);
    return code === '0x' ? balanceWei < transferGas * baseFeeWei || balanceWei === 0n : null;
  } catch (error) {
    return nullOfRpc(error);
  }
}
