import { backoffMs } from '../../lib/backoff.ts';
import { connectRpc, type Rpc, RpcError } from '../rpc.ts';

/** A provider gave an impossible answer, or is behind what was read elsewhere. */
export class ProviderFault extends Error {}

/** One endpoint of a chain and how it has behaved. */
export type RpcProvider = {
  rpc: Rpc;
  /** Whether it was verified to serve this chain, with the tokens as configured. Nothing is read from it before. */
  checked: 'no' | 'asking' | 'yes';
  /** When it was last checked, or is being checked. */
  checkedAtMs: number;
  /** Failed passes in a row. */
  failures: number;
  restUntilMs: number;
  /** The newest head it reported, and when that last changed. */
  head: number;
  headAtMs: number;
};

const rests = { firstMs: 250, maxMs: 10_000 };

/** The endpoints of one chain. One is used as long as it works, so that a pass sees one view of the chain. */
export type RpcPool = {
  providers: RpcProvider[];
  /** The endpoint to use now; null while all of them rest. */
  pick(): RpcProvider | null;
  /** Another endpoint, for a cross-check; null when no other works. */
  other(than: RpcProvider): RpcProvider | null;
  isAwake(provider: RpcProvider): boolean;
  worked(provider: RpcProvider): void;
  failed(provider: RpcProvider, error: Error): void;
  /** How long until one can be asked again. */
  restMs(): number;
};

/** A pool of these endpoints. No call is made and nothing is checked yet. */
export function makePool(urls: readonly string[]): RpcPool {
  const providers: RpcProvider[] = urls.map((url) => ({
    rpc: connectRpc(url),
    checked: 'no',
    checkedAtMs: 0,
    failures: 0,
    restUntilMs: 0,
    head: -1,
    headAtMs: performance.now(),
  }));
  let current = 0;
  const awake = (provider: RpcProvider | undefined): provider is RpcProvider =>
    provider !== undefined && provider.restUntilMs <= performance.now();
  return {
    providers,
    pick: () => {
      for (let step = 0; step < providers.length; step++) {
        const index = (current + step) % providers.length;
        if (!awake(providers[index])) continue;
        current = index;
        return providers[index] as RpcProvider;
      }
      return null;
    },
    other: (than) =>
      providers.find((provider) => provider !== than && provider.checked === 'yes' && awake(provider)) ?? null,
    isAwake: awake,
    worked: (provider) => {
      provider.failures = 0;
    },
    failed: (provider, error) => {
      provider.failures++;
      const wishedMs = error instanceof RpcError ? error.retryAfterMs : null;
      provider.restUntilMs = performance.now() + (wishedMs ?? backoffMs(provider.failures, rests));
    },
    restMs: () => Math.max(0, Math.min(...providers.map((provider) => provider.restUntilMs)) - performance.now()),
  };
}
