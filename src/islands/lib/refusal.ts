import { codeOf, isDeclined } from './wallets.ts';

/** Why nothing was sent: the name of a text, and the values for it. */
export class WalletRefusal extends Error {
  readonly text: string;
  readonly values: Record<string, string>;
  constructor(text: string, values: Record<string, string> = {}) {
    super(text);
    this.text = text;
    this.values = values;
  }
}

const maxReasonLength = 160;

/**
 * Converts an error of a wallet to a refusal with a text.
 *
 * @param text the name of the text for unknown errors
 */
export function refusalFrom(error: unknown, text: string): WalletRefusal {
  if (error instanceof WalletRefusal) return error;
  const message = String((error as { message?: unknown })?.message ?? '');
  if (isDeclined(error) || /user (rejected|denied|cancel)/i.test(message)) return new WalletRefusal('rejected');
  if (text === 'noAccount' && codeOf(error) === 4900) return new WalletRefusal('away');
  if (codeOf(error) === -32002) return new WalletRefusal('pending');
  if (text === 'failed' && /insufficient funds|exceeds the balance of the account|enough (gas|ether)/i.test(message)) {
    return new WalletRefusal('fee');
  }
  // The account was locked or taken away since the page asked for it.
  if (codeOf(error) === 4100) return new WalletRefusal('noAccount');
  const reason = message.slice(0, maxReasonLength).trim();
  return new WalletRefusal(text, { reason: reason && !/[.!?]$/.test(reason) ? `${reason}.` : reason });
}
