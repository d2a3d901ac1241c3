import { callRpc, type Hex, toHex } from '../../../src/chain/rpc.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import { localSigner } from '../../../src/config/relayer.ts';

/** RELAYER_KEYS for a separate process. */
export const testRelayerKey: Hex = `0x${'52'.repeat(32)}`;
/** The relayer of tests. It holds no coin until `fundRelayer`. */
export const testRelayer = localSigner(testRelayerKey);

/** Gives an address of the relayer coin on a test chain, so that it can pay fees. */
export async function fundRelayer(
  chain: ChainConfig,
  wei = 1000n * 10n ** 18n,
  address: Hex = testRelayer.address,
): Promise<void> {
  await callRpc(chain.rpcUrls[0] ?? '', 'anvil_setBalance', [address, toHex(wei)]);
}
