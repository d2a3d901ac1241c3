import type { ChainConfig } from '../../config/chains.ts';
import type { SeenTransfer } from '../confirm.ts';
import type { Header, Log, Receipt, Transaction } from '../rpc.ts';
import { readBindings } from './bindings.ts';
import { transferOf } from './blocks.ts';
import { type Candidate, calldataReference } from './reference.ts';

/** What one endpoint reports about a transfer: its transaction with the receipt, and its block. */
export type Evidence = { receipt: Receipt; header: Header; transaction: Transaction };

/** Whether an endpoint reports the same about a transfer as the endpoint that it was read from. */
export function confirmsTransfer(
  told: Evidence,
  key: SeenTransfer,
  chain: Pick<ChainConfig, 'tokens' | 'recurringContract'>,
): boolean {
  if (!isSameTransfer(told, key) || !hasSameBindings(told, key, chain.recurringContract)) return false;
  const tokens = chain.tokens.map(({ address }) => address);
  return !key.calldata || isSameReference(told, key, key.calldata.reference, tokens);
}

function hasSameBindings({ receipt }: Evidence, { ordinal, bindings }: SeenTransfer, contract: string | null): boolean {
  if (!bindings) return true;
  const found = readBindings(receipt.logs, contract)(ordinal);
  return (
    found.authorizationNonce === bindings.authorizationNonce && found.chargedReference === bindings.chargedReference
  );
}

function isSameTransfer({ receipt, header }: Evidence, key: SeenTransfer): boolean {
  const log = receipt.logs[key.ordinal];
  return (
    receipt.success &&
    receipt.blockNumber === key.blockNumber &&
    isSameBlock(header, key) &&
    log !== undefined &&
    isSameLog(log, key)
  );
}

/** Whether a header is that of the transfer's block: number, hash and time are the same. */
export function isSameBlock(header: Header, key: SeenTransfer): boolean {
  return (
    header.number === key.blockNumber &&
    header.hash === key.blockHash &&
    header.time.getTime() === key.blockTime.getTime()
  );
}

/** Whether a log is of this transfer, in its block. */
export function isSameLog(log: Log, key: SeenTransfer): boolean {
  const transfer = transferOf(log);
  return (
    log.blockHash === key.blockHash &&
    log.blockNumber === key.blockNumber &&
    log.address === key.tokenAddress &&
    transfer?.from === key.fromAddress &&
    transfer.to === key.toAddress &&
    transfer.value === key.value
  );
}

/**
 * Which wallets were watched when the transfer was read is no longer known. So if bytes were found, they must be found
 * again considering only the transfers to this wallet. If none were, there must be another transfer that can have made
 * them ambiguous.
 */
function isSameReference(
  told: Evidence,
  key: SeenTransfer,
  reference: string | null,
  tokens: readonly string[],
): boolean {
  const { receipt, transaction } = told;
  if (transaction.hash !== key.txHash) return false;
  const transfers = candidatesIn(receipt.logs, [key.tokenAddress, ...tokens]);
  const candidates = reference === null ? transfers : transfers.filter(({ to }) => to === key.toAddress);
  const own = { from: key.fromAddress, ordinal: key.ordinal };
  const found = calldataReference(transaction, receipt.logs, candidates, own);
  return (found?.toString('hex') ?? null) === reference;
}

function candidatesIn(logs: readonly Log[], tokens: readonly string[]): (Candidate & { to: string })[] {
  return logs.flatMap((log, ordinal) => {
    const transfer = tokens.includes(log.address) ? transferOf(log) : null;
    if (!transfer || transfer.value === 0n || transfer.from === transfer.to) return [];
    return [{ from: transfer.from, to: transfer.to, ordinal }];
  });
}
