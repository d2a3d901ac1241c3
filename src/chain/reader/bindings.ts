import { toEventSelector } from 'viem';
import type { Log } from '../rpc.ts';
import { transferOf } from './blocks.ts';

/** EIP-3009's `AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)`. */
export const authorizationUsedTopic = toEventSelector('AuthorizationUsed(address,bytes32)').toLowerCase();
/** Emitted by the contract for recurring payments after each charge. */
export const chargedTopic = toEventSelector('Charged(bytes32,bytes32,address,address,address,uint256)').toLowerCase();

/** What other logs of its transaction say a transfer was made for; in hex without 0x, null if none does. */
export type Bindings = {
  /** The nonce of the EIP-3009 authorization that it executes: 32 bytes. */
  authorizationNonce: string | null;
  /** The request's reference that was passed to the contract for recurring payments: 16 bytes. */
  chargedReference: string | null;
};

type LogContent = Pick<Log, 'address' | 'topics' | 'data'>;

/**
 * Reads what the transfers of a transaction were made for; computed once for all of them.
 *
 * A token emits `AuthorizationUsed` directly before the transfer that the authorization allows. A `Charged` log counts
 * only if exactly one transfer since the one before it has its payer, payee, token and amount.
 *
 * @param logs by their ordinal in the transaction; irrelevant ones may be left out
 * @param contract the contract for recurring payments, in lower case
 * @returns the bindings of the transfer at an ordinal
 */
export function readBindings(
  logs: readonly (LogContent | undefined)[],
  contract: string,
): (ordinal: number) => Bindings {
  const charged = readCharges(logs, contract);
  return (ordinal) => ({
    authorizationNonce: nonceBefore(logs, ordinal),
    chargedReference: charged.get(ordinal) ?? null,
  });
}

const addressIn = (word: string | undefined) => `0x${word?.slice(-40)}`;

function nonceBefore(logs: readonly (LogContent | undefined)[], ordinal: number): string | null {
  const [used, moved] = [logs[ordinal - 1], logs[ordinal]];
  const transfer = moved && transferOf(moved);
  if (!used || !transfer || used.address !== moved.address || used.topics.length !== 3) return null;
  const [topic, authorizer, nonce] = used.topics;
  return topic === authorizationUsedTopic && addressIn(authorizer) === transfer.from ? (nonce?.slice(2) ?? null) : null;
}

/** The references of the contract's charges, by the ordinal of the transfer that each names. */
function readCharges(logs: readonly (LogContent | undefined)[], contract: string): Map<number, string> {
  const found = new Map<number, string>();
  /** The ordinals of transfers since the last charge, by what they move. */
  let since = new Map<string, number[]>();
  logs.forEach((log, ordinal) => {
    const transfer = log && transferOf(log);
    if (transfer) {
      const key = keyOf(transfer.from, transfer.to, log.address, transfer.value);
      const same = since.get(key);
      if (same) same.push(ordinal);
      else since.set(key, [ordinal]);
      return;
    }
    if (log?.address !== contract || log.topics[0] !== chargedTopic) return;
    const charge = readCharged(log);
    const [only, ...others] = (charge && since.get(charge.key)) ?? [];
    if (charge && only !== undefined && others.length === 0) found.set(only, charge.reference);
    since = new Map();
  });
  return found;
}

const keyOf = (from: string, to: string, token: string, value: bigint) => `${from} ${to} ${token} ${value}`;

/** Null if the log has another shape, or its reference is not a request's: 16 bytes followed by 16 zero bytes. */
function readCharged({ topics, data }: LogContent): { key: string; reference: string } | null {
  const [, , reference, payee, more] = topics;
  if (!reference || !payee || more !== undefined || data.length !== 2 + 3 * 64) return null;
  if (!/^0x[0-9a-f]{32}0{32}$/.test(reference)) return null;
  const [payer, token, amount] = [0, 1, 2].map((i) => data.slice(2 + 64 * i, 66 + 64 * i)) as [string, string, string];
  const key = keyOf(addressIn(payer), addressIn(payee), addressIn(token), BigInt(`0x${amount}`));
  return { key, reference: reference.slice(2, 34) };
}
