import type { KeptPairing } from './lazy-wallet.ts';

/** In this tab only, and only from the page that connects a wallet to the page on which it signs. */
const key = 'pairing';

export function keepPairing(kept: KeptPairing): void {
  sessionStorage.setItem(key, JSON.stringify(kept));
}

/** Takes what the page before left; null without anything, or if it belongs to another account than the wanted one. */
export function takePairing(wanted: string | null): KeptPairing | null {
  const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as KeptPairing | null;
  sessionStorage.removeItem(key);
  return kept !== null && kept.account === wanted ? kept : null;
}
