import { waitMined } from '../../src/sandbox/wallet.ts';
import type { giants } from '../support/chain/giant-transactions.ts';
import { blockOf } from './payments.ts';
import { at } from './seeded-choices.ts';
import type { Stage } from './stage.ts';

/** The smallest amount: no customer pays it. */
export const dustMicro = 1n;
const blocks = 4;
const transfersEach = 500;

export type Stranger = Awaited<ReturnType<typeof giants>>;

/** A stranger sends thousands of the smallest transfers to a merchant's wallet, in a few blocks. */
export async function sendDust(stage: Stage, [which = 0, whose = 0]: readonly number[]): Promise<boolean> {
  const order = at(
    stage.model.newest(() => true), // a wallet is watched from its first request on
    which,
  );
  const stranger = at(stage.strangers, whose);
  if (!order || !stranger) return false;
  const url = stage.chain.chain.rpcUrls[0] ?? '';
  for (let n = 0; n < blocks; n++) {
    const giant = { logs: 0, transfers: transfersEach, to: order.wallet.address, usdcMicro: dustMicro };
    const txHash = await stranger.send(giant);
    if ((await waitMined(url, txHash)) !== '0x1') throw new Error(`the dust ${txHash} was not mined`);
    const block = await blockOf(stage, txHash, 'here');
    // A removed transaction may be sent again: the same nonce and wallet make the same transaction.
    const others = stage.model.dust.filter((one) => one.txHash !== txHash);
    stage.model.dust = [...others, { txHash, order, transfers: transfersEach, block }];
  }
  return true;
}
