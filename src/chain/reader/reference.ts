import { type Abi, decodeFunctionData, type Hex, toEventSelector } from 'viem';
import {
  entryPoint06Abi,
  entryPoint06Address,
  entryPoint07Abi,
  entryPoint07Address,
  entryPoint08Abi,
  entryPoint08Address,
  entryPoint09Abi,
  entryPoint09Address,
} from 'viem/account-abstraction';
import type { Log, Transaction } from '../rpc.ts';

/** ERC-4337 entry points by address in lower case, and how to decode their `handleOps`. */
const entryPoints = new Map<string, Abi>([
  [entryPoint06Address.toLowerCase(), entryPoint06Abi],
  [entryPoint07Address.toLowerCase(), entryPoint07Abi],
  [entryPoint08Address.toLowerCase(), entryPoint08Abi],
  [entryPoint09Address.toLowerCase(), entryPoint09Abi],
]);

/** Emitted by the entry point at the end of each operation, in all versions. */
const userOperationEvent = toEventSelector(
  'UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)',
).toLowerCase();

/** Emitted by the entry point, in all versions, after all operations are validated and before the first is executed. */
const beforeExecution = toEventSelector('BeforeExecution()').toLowerCase();

/** A transfer to a watched wallet: its sender, and its position among the logs of its transaction. */
export type Candidate = { from: string; ordinal: number };

/**
 * Whether a transaction to this address carries user operations; all of their logs are needed to find the references.
 */
export function isEntryPoint(address: string | null): boolean {
  return address !== null && entryPoints.has(address);
}

/**
 * The 16 bytes at the end of a transaction, or of the one user operation in it, for one transfer; computed once for all
 * transfers of a transaction.
 *
 * They count only where they identify one transfer: it is the only candidate of its transaction or operation, and its
 * `from` signed that. Null otherwise. The caller decides whether the bytes are a reference.
 *
 * @param logs all logs of the transaction, in order
 * @param candidates all transfers of the transaction to watched wallets, including this one
 */
export function calldataReferences(
  tx: Pick<Transaction, 'from' | 'to' | 'input'>,
  logs: readonly Pick<Log, 'address' | 'topics'>[],
  candidates: readonly Candidate[],
): (transfer: Candidate) => Buffer | null {
  const abi = tx.to === null ? undefined : entryPoints.get(tx.to);
  if (abi && tx.to) return operationReferences(tx.input, abi, tx.to, logs, candidates);
  const bytes = candidates.length === 1 ? lastBytes(tx.input) : null;
  return ({ from }) => (from === tx.from ? bytes : null);
}

/** As `calldataReferences`, for one transfer. */
export function calldataReference(
  tx: Pick<Transaction, 'from' | 'to' | 'input'>,
  logs: readonly Pick<Log, 'address' | 'topics'>[],
  candidates: readonly Candidate[],
  transfer: Candidate,
): Buffer | null {
  return calldataReferences(tx, logs, candidates)(transfer);
}

function operationReferences(
  input: string,
  abi: Abi,
  entryPoint: string,
  logs: readonly Pick<Log, 'address' | 'topics'>[],
  candidates: readonly Candidate[],
): (transfer: Candidate) => Buffer | null {
  const operations = readOperations(input, abi);
  const ends = logs.flatMap((log, ordinal) =>
    log.address === entryPoint && log.topics[0] === userOperationEvent
      ? [{ ordinal, sender: `0x${log.topics[2]?.slice(-40)}` }]
      : [],
  );
  // One event per operation, in order. Otherwise something else happened here, and nothing is concluded.
  const inStep = ends.length === operations.length && ends.every((end, i) => end.sender === operations[i]?.sender);
  const begin = logs.findIndex((log) => log.address === entryPoint && log.topics[0] === beforeExecution);
  if (!inStep || begin < 0) return () => null;
  // What moves while operations are validated belongs to none: any account in the bundle may have moved it.
  const indexOf = ({ ordinal }: Candidate) => (ordinal < begin ? -1 : ends.findIndex((end) => end.ordinal > ordinal));
  const counts = new Map<number, number>();
  for (const candidate of candidates) counts.set(indexOf(candidate), (counts.get(indexOf(candidate)) ?? 0) + 1);
  return (transfer) => {
    const index = indexOf(transfer);
    const operation = operations[index];
    return operation?.sender === transfer.from && counts.get(index) === 1 ? lastBytes(operation.callData) : null;
  };
}

function readOperations(input: string, abi: Abi): { sender: string; callData: string }[] {
  try {
    const { functionName, args } = decodeFunctionData({ abi, data: input as Hex });
    if (functionName !== 'handleOps') return [];
    const operations = args?.[0] as { sender: string; callData: string }[];
    return operations.map(({ sender, callData }) => ({ sender: sender.toLowerCase(), callData }));
  } catch {
    return []; // anyone can send anything to an entry point; what cannot be read carries no reference
  }
}

function lastBytes(hex: string): Buffer | null {
  return hex.length >= 2 + 32 ? Buffer.from(hex.slice(-32), 'hex') : null;
}
