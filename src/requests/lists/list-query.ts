import type { FieldFault } from '../../errors.ts';
import { parseInstant } from '../../lib/time.ts';
import type { RequestFilter } from '../store.ts';

/** Reads a list call's parameters. The contract has checked them except for the instants. */
export function readListQuery(query: Record<string, unknown>): { filter: RequestFilter; faults: FieldFault[] } {
  const faults: FieldFault[] = [];
  const instant = (field: 'since' | 'until'): Date | undefined => {
    const value = query[field];
    if (typeof value !== 'string') return undefined; // absent, or told by the contract
    const parsed = parseInstant(value);
    if (!parsed)
      faults.push({
        field,
        message: 'must be a day (YYYY-MM-DD) or an RFC 3339 time with Z or an offset, such as 2026-01-31T09:30:00Z',
      });
    return parsed ?? undefined;
  };
  const filter = {
    status: query.status as RequestFilter['status'],
    proofStatus: query.proof_status as RequestFilter['proofStatus'],
    accountId: query.account_id as string | undefined,
    since: instant('since'),
    until: instant('until'),
    limit: (query.limit as number | undefined) ?? 50,
    offset: (query.offset as number | undefined) ?? 0,
  };
  return { filter, faults };
}
