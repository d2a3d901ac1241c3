import type { Scope } from '../db/connection.ts';
import type { Fragment, Tag } from '../db/sql.ts';
import { unionBranches } from '../db/union-branches.ts';
import { hasTimeLeft, isPast } from './expiry.ts';
import type { RequestRow } from './store.ts';

const statuses = ['requested', 'opened', 'expired', 'voided'] as const;
const proofs = ['none', 'attached', 'verified'] as const;

/**
 * States as stored, so that each can be read from an index in the order of creation. Expiry applies before it is
 * stored: `past` adds requests that are stored as waiting although their time has passed, `waiting` leaves them out.
 */
export type States = {
  stored: [RequestRow['status'], RequestRow['proof_status']][];
  past: boolean;
  waiting: boolean;
};

/** The stored states that a filter covers; null for all. */
export function statesOf(status?: RequestRow['status'], proofStatus?: RequestRow['proof_status']): States | null {
  if (!status && !proofStatus) return null;
  return {
    stored: (status ? [status] : statuses).flatMap((one) =>
      (proofStatus ? [proofStatus] : proofs).map((proof): States['stored'][number] => [one, proof]),
    ),
    past: status === 'expired' && (proofStatus ?? 'none') === 'none',
    waiting: status === 'requested' || status === 'opened',
  };
}

/**
 * A list of requests in some states, each of which is read in order from its own index.
 *
 * @param where further conditions on a request `r`, beginning with `and`
 * @param place `order by … limit …`; columns without their table's name
 * @param columns of a request `r`; all unless said
 */
export function inStates(
  sql: Tag,
  scope: Scope,
  states: States | null,
  { where, place, columns = sql`r.*` }: { where: Fragment; place: Fragment; columns?: Fragment },
): Fragment {
  const inScope = sql`r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode}`;
  const own = sql`select ${columns} from requests r where ${inScope} ${where}`;
  if (!states) return sql`${own} ${place}`;
  const branches = states.stored.map(([status, proof]) => {
    // The states are not repeated as constants: they would offer the index of expiries, which covers all partners.
    const waiting = states.waiting && proof === 'none' ? sql`and ${hasTimeLeft(sql)}` : sql``;
    return sql`${own} and r.status = ${status} and r.proof_status = ${proof} ${waiting}`;
  });
  if (states.past) {
    // Kept separate by a fence: these are few, and found by the time at which they end.
    const past = sql`select r.* from requests r where ${inScope} and ${isPast(sql)} offset 0`;
    branches.push(sql`select ${columns} from (${past}) r where true ${where}`);
  }
  return unionBranches(sql, branches, place);
}
