import { type ChainConfig, findChain } from '../config/chains.ts';
import { portalTexts } from '../texts/portal.ts';
import { groupMicro } from '../ui/formats.ts';
import type { Words } from '../ui/language.ts';

type Paid = { chain_id: string; token_address: string; value: string; reason: string | null };

/**
 * The symbol of a payment's token. One that was removed from CHAINS_FILE since was accepted when it was read.
 *
 * @returns null if this node never knew it
 */
export function symbolOf(chains: readonly ChainConfig[], row: Paid): string | null {
  const chain = findChain(chains, row.chain_id);
  const token = chain?.tokens.find(({ address }) => address === row.token_address);
  return token?.symbol ?? (row.reason === 'wrong_token' ? null : 'USDC');
}

/** A payment's amount with its token, or that the token is wrong if this node never knew it. */
export function paymentAmount(words: Words, chains: readonly ChainConfig[], row: Paid): string {
  const symbol = symbolOf(chains, row);
  return symbol === null ? portalTexts(words).reasons.wrong_token : `${groupMicro(words, BigInt(row.value))} ${symbol}`;
}
