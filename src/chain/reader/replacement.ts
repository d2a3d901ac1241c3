import { nullOfRpc, type Rpc } from '../rpc.ts';

/** More blocks than a chain produces while a transaction is awaited. */
const maxSteps = 24;
const limitMs = 5_000;

/**
 * The transaction that an account sent with a nonce, found by bisecting the blocks in which the nonce may have been
 * used.
 *
 * @param sinceBlock a block at which the nonce was still unused
 * @returns its hash; null when the provider keeps no state that old, or it takes too long
 */
export async function findByNonce(rpc: Rpc, from: string, nonce: number, sinceBlock: number): Promise<string | null> {
  const deadline = performance.now() + limitMs;
  try {
    let before = sinceBlock;
    let at = (await rpc.header('latest'))?.number ?? 0;
    for (let step = 0; at - before > 1; step++) {
      if (step === maxSteps || performance.now() > deadline) return null;
      const middle = Math.floor((before + at) / 2);
      if ((await rpc.nonceAt(from, middle)) > nonce) at = middle;
      else before = middle;
    }
    const block = await rpc.fullBlock(at);
    return block?.transactions.find((tx) => tx.from === from && tx.nonce === nonce)?.hash ?? null;
  } catch (error) {
    return nullOfRpc(error);
  }
}
