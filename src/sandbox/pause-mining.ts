import { callRpc } from '../chain/rpc.ts';
import { pause } from '../lib/time.ts';
import { setTimeToNow } from './anvil.ts';
import { mineOnArrival } from './usdc.ts';

/** After so many equal answers in a row about the newest block, no block is being mined any more. */
const sameLooks = 8;
const lookMs = 15;
const maxLooks = 200;

/**
 * Pauses mining on a local chain while `work` changes its past blocks. Anvil does not serialise the two: a transaction
 * that it mines during a reorganisation can get a receipt without any effect, and earlier blocks can disappear.
 * Transactions that arrive meanwhile wait and are mined afterwards. Run one at a time per chain, and not during `mine`:
 * see `whileRehearsing`.
 */
export async function whileMiningPaused<T>(url: string, work: () => Promise<T>): Promise<T> {
  await callRpc(url, 'evm_setAutomine', [false]);
  try {
    await untilStill(url);
    return await work();
  } finally {
    await setTimeToNow(url); // new blocks moved the chain's clock
    await mineOnArrival(url);
    // Anvil would mine the waiting transactions only when another one arrives.
    const { pending } = (await callRpc(url, 'txpool_status', [])) as { pending: string };
    if (Number(pending) > 0) await callRpc(url, 'anvil_mine', ['0x1']);
  }
}

async function untilStill(url: string): Promise<void> {
  let newest: unknown = null;
  for (let looks = 0, same = 0; looks < maxLooks && same < sameLooks; looks++) {
    const head = await callRpc(url, 'eth_blockNumber', []);
    same = head === newest ? same + 1 : 0;
    newest = head;
    await pause(lookMs);
  }
}
