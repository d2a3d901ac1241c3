import type { Context } from '../context.ts';
import { type Mode, modeOf, modes } from '../lib/mode.ts';

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
  const rows = await ctx.db.sql<
    { chain_id: string; test_mode: boolean; token_address: string; waiting: RemovedToken['waiting'] }[]
  >`
    select w.chain_id, w.test_mode, w.token_address, array_agg(w.what order by w.what) as waiting
    from (
      select chain_id, test_mode, token_address, 'payments' as what from transfers where judged_at is null
      union
      select chain_id, test_mode, token_address, 'payments' from transfers where counts and final_at is null
      union
      select chain_id, test_mode, token_address, 'refunds' from returns where state in ('returning', 'sent')
      union
      select chain_id, test_mode, token_address, 'automatic charges' from mandates where state = 'active') w
    where (w.chain_id, w.test_mode) in (
        select * from unnest(${places.map(({ chainId }) => chainId)}::bigint[],
          ${places.map(({ mode }) => mode === 'test')}::boolean[]))
      and (w.chain_id, w.token_address) not in (
        select * from unnest(${known.map(({ chainId }) => chainId)}::bigint[],
          ${known.map(({ address }) => address)}::text[]))
    group by w.chain_id, w.test_mode, w.token_address order by w.chain_id, w.token_address`;
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
export async function rematchKnownTokens(ctx: Pick<Context, 'db' | 'chains'>): Promise<number> {
  const known = placesOf(ctx).flatMap(({ chainId, mode, tokens }) =>
    tokens.map(({ address }) => ({ chainId, isTest: mode === 'test', address })),
  );
  const { count } = await ctx.db.sql`
    update transfers set judged_at = null, reason = null, candidate_request_id = null, looks = 0, look_at = now()
    where (chain_id, tx_hash, ordinal) in (
      select t.chain_id, t.tx_hash, t.ordinal
      from unnest(${known.map(({ chainId }) => chainId)}::bigint[], ${known.map(({ isTest }) => isTest)}::boolean[],
          ${known.map(({ address }) => address)}::text[]) as k (chain_id, test_mode, address)
        join transfers t on (t.chain_id, t.test_mode, t.token_address) = (k.chain_id, k.test_mode, k.address)
      where t.reason = 'wrong_token' and t.request_id is null limit ${maxRematched})
      and reason = 'wrong_token' and request_id is null`;
  return count;
}
