import type { KeptPairing } from './lazy-wallet.ts';
import { tabStorage } from './storage.ts';

/** Kept in this tab only, from the page that connects a wallet to the page on which it signs. */
const key = 'pairing';

/** Keeps a connection to a wallet for the next page of this tab. */
export function keepPairing(kept: KeptPairing): void {
  tabStorage.setItem(key, JSON.stringify(kept));
}

/** Takes the connection that the previous page kept; null if there is none, or if it is of another account. */
export function takePairing(wanted: string | null): KeptPairing | null {
  const kept = JSON.parse(tabStorage.getItem(key) ?? 'null') as KeptPairing | null;
  tabStorage.removeItem(key);
  return kept !== null && kept.account === wanted ? kept : null;
}
