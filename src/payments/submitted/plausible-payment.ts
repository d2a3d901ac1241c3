import { decodeFunctionData, type Hex, parseAbi } from 'viem';
import type { Transaction } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { findReferenced } from '../../requests/references.ts';
import { findReservations } from '../../requests/reservations.ts';
import type { RequestRow } from '../../requests/store.ts';
import { canBePaid } from '../rules.ts';

/** How a direct call moves a token: ERC-20, and EIP-3009 with either form of signature. */
const moves = parseAbi([
  'function transfer(address to, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** Where a call to a token moves money, and how much in the token's units; null for any other call. */
function readMove(input: string): { to: string; value: bigint } | null {
  try {
    const { functionName, args } = decodeFunctionData({ abi: moves, data: input as Hex });
    const [to, value] = functionName === 'transfer' ? args : [args[1], args[2]];
    return { to: to.toLowerCase(), value };
  } catch {
    return null; // another function, or no calldata at all
  }
}

/**
 * Whether an unmined transaction is plausible as a payment of this request; otherwise anybody could show other people's
 * transactions on its page. Either it carries the request's reference and names its wallet, or it moves an accepted
 * token to the wallet and neither reference nor amount names another request.
 *
 * @returns `micro`: the amount it would move there, null if that is known only once it is mined. Null if it is not
 * plausible
 */
export async function plausiblePayment(
  tx: Tx,
  scope: Scope,
  request: RequestRow,
  chain: ChainConfig,
  transaction: Pick<Transaction, 'to' | 'input'>,
): Promise<{ micro: bigint | null } | null> {
  if (!canBePaid(chain.chainId, request.wallet_chain_ids)) return null;
  const names = (hex: string) => transaction.input.includes(hex);
  const move = chain.tokens.some(({ address }) => address === transaction.to) ? readMove(transaction.input) : null;
  const micro = move?.to === request.wallet_address ? move.value : null;
  // A contract wallet wraps the call, so the calldata is searched for both. Once it is mined, its logs decide.
  if (names(Buffer.from(request.reference).toString('hex')) && names(request.wallet_address.slice(2))) return { micro };
  if (!move || micro === null) return null;
  const [named, holders] = await Promise.all([
    findReferenced(tx, scope, Buffer.from(transaction.input.slice(-32), 'hex')),
    findReservations(tx, [
      {
        ...{ partner_id: scope.partnerId, test_mode: scope.testMode, wallet_address: move.to },
        ...{ chain_id: chain.chainId, paid_micro: move.value.toString(), paid_at: null, around_micro: '0' },
      },
    ]),
  ]);
  const fitting = named === null && holders.every(({ request_id }) => request_id === request.id);
  return fitting ? { micro } : null;
}
