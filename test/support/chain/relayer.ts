import { callRpc, type Hex, RpcError, toHex } from '../../../src/chain/rpc.ts';
import { readTokenDomain } from '../../../src/chain/token-domain.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import { localSigner } from '../../../src/config/relayer.ts';
import type { Database } from '../../../src/db/connection.ts';
import { until } from '../until.ts';

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

/**
 * Reads the EIP-712 domains of a chain's tokens in advance. A page that has to query them waits 0.4 s, and then offers
 * a payment with a fee.
 */
export async function learnDomains(chain: ChainConfig): Promise<void> {
  for (const token of chain.tokens) {
    await until(
      () =>
        readTokenDomain(chain, token).catch((error) => {
          if (error instanceof RpcError) return null;
          throw error;
        }),
      'the token’s domain is known',
    );
  }
}

/** Makes the relayer's loop ask the chain about everything in its next pass. */
export async function lookAnew({ sql }: Database): Promise<void> {
  const ago = sql`interval '60 seconds'`;
  await sql`
    update relay_accounts set look_at = now(), counted_at = counted_at - ${ago}, checked_at = checked_at - ${ago},
      gap_at = gap_at - ${ago}`;
}
