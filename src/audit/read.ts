import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type AuditRow, type LogFilter, selectLog } from './store.ts';
import { noPartner } from './write.ts';

export type { AuditRow, LogFilter };

/** One page of a log, newest first. `next` is the `before` of the next page; null at the end. */
export type LogPage = { rows: AuditRow[]; next: bigint | null };

/**
 * Reads a log: a partner's, or the one that concerns no partner.
 *
 * @param whose a partner's scope, in either mode, as its log covers both; `operators` for what concerns no partner
 */
export async function readLog(
  ctx: Pick<Context, 'db'>,
  whose: Scope | 'operators',
  filter: LogFilter,
  limit: number,
): Promise<LogPage> {
  const rows =
    whose === 'operators'
      ? await ctx.db.transaction((tx) => selectLog(tx, noPartner, filter, limit + 1))
      : await ctx.db.scoped(whose, (tx) => selectLog(tx, whose.partnerId, filter, limit + 1));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { rows: shown, next: rows.length > limit && last ? BigInt(last.number) : null };
}
