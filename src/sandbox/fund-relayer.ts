import { relayerAddresses } from '../chain/relay/relay.ts';
import { callRpc, connectRpc, toHex } from '../chain/rpc.ts';
import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { devChainIds } from './chain.ts';
import { endpointOf } from './wallet.ts';

const coin = 10n ** 18n;
const enough = 500n * coin;
const full = 1_000n * coin;

/** Refills the relayer's addresses on the local chains. Does nothing if chains are configured by a file. */
export async function fundRelayer(ctx: Context): Promise<void> {
  if (ctx.config.chains) return;
  const ids: number[] = Object.values(devChainIds);
  const local = allChains(ctx.chains).filter((chain) => ids.includes(chain.chainId));
  for (const chain of local) {
    const { url } = endpointOf(chain);
    for (const address of relayerAddresses(ctx)) {
      if ((await connectRpc(url).balance(address)) >= enough) continue;
      await callRpc(url, 'anvil_setBalance', [address, toHex(full)]);
    }
  }
}
