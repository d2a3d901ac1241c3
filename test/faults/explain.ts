import { callRpc } from '../../src/chain/rpc.ts';
import { endpointOf } from '../../src/sandbox/wallet.ts';
import type { Payment } from './model.ts';
import type { Difference } from './settled.ts';
import type { Stage } from './stage.ts';

const maxExplained = 3;
const maxLogLines = 40;
const maxTextChars = 4_000;

/** What is known about transactions on the chain that the service did not store, to find out where they got lost. */
export async function explainMissing(stage: Stage, differences: readonly Difference[]): Promise<string[]> {
  const missing = differences.flatMap((one) => (one.missing ? [one.missing] : [])).slice(0, maxExplained);
  if (missing.length === 0) return [];
  const facts = await Promise.all(missing.map((one) => factsOf(stage, one)));
  const logs = stage.nodes.map((node, i) => `log of node ${i + 1}:\n${node.lastLines(maxLogLines)}`);
  return [...facts.flat(), ...logs];
}

async function factsOf(stage: Stage, { txHash, order }: Pick<Payment, 'txHash' | 'order'>): Promise<string[]> {
  const { owner } = stage.database;
  const { url } = endpointOf(stage.chain.chain);
  const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [txHash])) as Record<string, unknown> | null;
  const number = Number(receipt?.blockNumber ?? -1);
  const chainId = stage.chain.chain.chainId;
  const rows = {
    request: await owner`
      select id, status, proof_status, created_at, expires_at, wallet_address, start_blocks from requests
      where id = ${order.id}`,
    wallet: await owner`select * from watched_wallets where wallet_address = ${order.wallet.address}`,
    cursor: await owner`select * from chain_cursors where chain_id = ${chainId}`,
    block: await owner`
      select number, hash, block_time from chain_blocks
      where chain_id = ${chainId} and number between ${number - 1} and ${number + 1} order by number`,
    'set aside': await owner`
      select * from unread_transactions where chain_id = ${chainId} and (tx_hash = ${txHash} or block_number = ${number})`,
    submitted: await owner`select * from payment_hints where tx_hash = ${txHash}`,
    transfers: await owner`select * from transfers where chain_id = ${chainId} and block_number = ${number}`,
    leases: await owner`select * from leases`,
    alarms: await owner`select kind, subject, details from alarms`,
  };
  const text = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one));
  return [
    `${txHash} for ${order.id}, answered when it was submitted: ${stage.model.submitted.get(txHash) ?? 'never submitted'}`,
    `  receipt: ${text(receipt).slice(0, maxTextChars)}`,
    ...Object.entries(rows).map(([name, found]) => `  ${name}: ${text(found).slice(0, maxTextChars)}`),
  ];
}
