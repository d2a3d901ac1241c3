import type { Context } from '../context.ts';
import { type Mode, modeOf, modes } from '../lib/mode.ts';
import { selectRemovedTokens, updateRematchKnown } from './removed-store.ts';

/** A token that is missing at its chain in CHAINS_FILE, and what still waits for it: at least one thing. */
export type RemovedToken = {
  chainId: number;
  mode: Mode;
  address: string;
  waiting: ('automatic charges' | 'payments' | 'refunds')[];
};

const placesOf = ({ chains }: Pick<Context, 'chains'>) =>
  modes.flatMap((mode) => chains[mode].map(({ chainId, tokens }) => ({ chainId, mode, tokens })));

/**
 * Tokens that were removed from CHAINS_FILE while something waits for them: a payment is not final or not matched, a
 * refund is under way, or a customer has agreed to charges in it. A lookup over all partners, which reads all of these.
 * Requests do not say which tokens they were offered, so open ones are not named.
 */
export async function removedTokens(ctx: Pick<Context, 'db' | 'chains'>): Promise<RemovedToken[]> {
  const places = placesOf(ctx);
  const known = places.flatMap(({ chainId, tokens }) => tokens.map(({ address }) => ({ chainId, address })));
  const rows = await selectRemovedTokens(ctx.db, places, known);
  return rows.map(({ chain_id, test_mode, token_address, waiting }) => {
    return { chainId: Number(chain_id), mode: modeOf(test_mode), address: token_address, waiting };
  });
}

/** In one pass; the next takes the rest. */
const maxRematched = 5_000;

/**
 * Loop: lets payments be matched again that were unmatched because their token was missing in CHAINS_FILE for an hour,
 * once it is back.
 *
 * @returns how many there were
 */
export function rematchKnownTokens(ctx: Pick<Context, 'db' | 'chains'>): Promise<number> {
  const known = placesOf(ctx).flatMap(({ chainId, mode, tokens }) =>
    tokens.map(({ address }) => ({ chainId, isTest: mode === 'test', address })),
  );
  return updateRematchKnown(ctx.db, known, maxRematched);
}
