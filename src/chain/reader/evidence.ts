import type { ChainConfig } from '../../config/chains.ts';
import type { SeenTransfer } from '../confirm.ts';
import { contractToRead } from '../recurring/contract.ts';
import type { Header, Log, Receipt, Transaction } from '../rpc.ts';
import { type Bindings, readBindings } from './bindings.ts';
import { transferOf } from './blocks.ts';
import { type Candidate, calldataReferences } from './reference.ts';

/** What one endpoint reports about a transfer: its transaction with the receipt, and its block. */
export type Evidence = { receipt: Receipt; header: Header; transaction: Transaction };

/** Whether an endpoint reports the same about a transfer as the endpoint that it was read from. */
export function confirmsTransfer(
  evidence: Evidence,
  key: SeenTransfer,
  chain: Pick<ChainConfig, 'tokens' | 'recurringContract'>,
): boolean {
  if (!isSameTransfer(evidence, key) || !hasSameBindings(evidence, key, contractToRead(chain))) return false;
  const tokens = chain.tokens.map(({ address }) => address);
  return !key.calldata || isSameReference(evidence, key, key.calldata.reference, tokens);
}

/** What was computed from a transaction for all of its transfers; as long as an endpoint's answer is kept. */
type Computed = {
  bindings: Map<string, (ordinal: number) => Bindings>;
  references: Map<string, (transfer: Candidate) => Buffer | null>;
};
const computed = new WeakMap<Receipt, WeakMap<Transaction, Computed>>();

/**
 * A transaction can make thousands of transfers. If its logs were read again for each, confirming them would keep the
 * process from everything else for seconds.
 */
function computedOf({ receipt, transaction }: Evidence): Computed {
  const byTransaction = computed.get(receipt) ?? new WeakMap<Transaction, Computed>();
  computed.set(receipt, byTransaction);
  const own = byTransaction.get(transaction) ?? { bindings: new Map(), references: new Map() };
  byTransaction.set(transaction, own);
  return own;
}

function onceIn<K, T>(map: Map<K, T>, key: K, compute: () => T): T {
  const value = map.get(key) ?? compute();
  map.set(key, value);
  return value;
}

function hasSameBindings(evidence: Evidence, { ordinal, bindings }: SeenTransfer, contract: string): boolean {
  if (!bindings) return true;
  const read = () => readBindings(evidence.receipt.logs, contract);
  const found = onceIn(computedOf(evidence).bindings, contract, read)(ordinal);
  return (
    found.authorizationNonce === bindings.authorizationNonce && found.chargedReference === bindings.chargedReference
  );
}

function isSameTransfer({ receipt, header }: Evidence, key: SeenTransfer): boolean {
  const log = receipt.logs[key.ordinal];
  return (
    receipt.txHash === key.txHash &&
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
  evidence: Evidence,
  key: SeenTransfer,
  reference: string | null,
  tokens: readonly string[],
): boolean {
  const { receipt, transaction } = evidence;
  if (transaction.hash !== key.txHash) return false;
  const accepted = [key.tokenAddress, ...tokens];
  const wallet = reference === null ? null : key.toAddress;
  const referenceOf = onceIn(computedOf(evidence).references, `${wallet} ${accepted}`, () => {
    const transfers = candidatesIn(receipt.logs, accepted);
    const candidates = wallet === null ? transfers : transfers.filter(({ to }) => to === wallet);
    return calldataReferences(transaction, receipt.logs, candidates);
  });
  const found = referenceOf({ from: key.fromAddress, ordinal: key.ordinal });
  return (found?.toString('hex') ?? null) === reference;
}

function candidatesIn(logs: readonly Log[], tokens: readonly string[]): (Candidate & { to: string })[] {
  return logs.flatMap((log, ordinal) => {
    const transfer = tokens.includes(log.address) ? transferOf(log) : null;
    if (!transfer || transfer.value === 0n || transfer.from === transfer.to) return [];
    return [{ from: transfer.from, to: transfer.to, ordinal }];
  });
}
