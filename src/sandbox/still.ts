import { callRpc } from '../chain/rpc.ts';
import { pause } from '../lib/time.ts';
import { setTimeToNow } from './anvil.ts';
import { mineOnArrival } from './usdc.ts';

/** So often in a row the newest block must be the same, until what was being mined when it was stopped is mined. */
const sameLooks = 8;
const lookMs = 15;
const mostLooks = 200;

/**
 * Changes a local chain's past while it mines nothing. Anvil does not keep the two apart: a transaction that it mines
 * during a reorganisation can have a receipt without its effect, and blocks below it are gone. What arrives meanwhile
 * waits, and is mined afterwards. One at a time per chain, and none beside `mine`: see `whileRehearsing`.
 */
export async function whileStill<T>(url: string, work: () => Promise<T>): Promise<T> {
  await callRpc(url, 'evm_setAutomine', [false]);
  try {
    await untilStill(url);
    return await work();
  } finally {
    await setTimeToNow(url); // new blocks moved the chain's clock
    await mineOnArrival(url);
    // It mines these by itself only once another one arrives.
    const { pending } = (await callRpc(url, 'txpool_status', [])) as { pending: string };
    if (Number(pending) > 0) await callRpc(url, 'anvil_mine', ['0x1']);
  }
}

async function untilStill(url: string): Promise<void> {
  let newest: unknown = null;
  for (let looks = 0, same = 0; looks < mostLooks && same < sameLooks; looks++) {
    const head = await callRpc(url, 'eth_blockNumber', []);
    same = head === newest ? same + 1 : 0;
    newest = head;
    await pause(lookMs);
  }
}
