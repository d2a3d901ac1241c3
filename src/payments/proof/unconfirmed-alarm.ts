import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import type { Database } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { selectAnyPostponed } from '../queue-store.ts';

/** How long an endpoint may be away before the operator is told. */
const patienceMs = 2 * minuteMs;

/** Since when this process has waited for a chain's second endpoint; false once it knows that nothing waits. */
const waits = new WeakMap<Database, Map<number, Date | false>>();

/**
 * Records whether verification waits for an endpoint of a chain. After two minutes it raises an alarm, and clears it
 * when nothing waits any more.
 *
 * @param doubted whether something could not be confirmed in this pass; transfers that were postponed before also count
 * as waiting
 */
export async function updateUnconfirmedAlarm(ctx: Context, chain: ChainConfig, doubted: boolean): Promise<void> {
  const { chainId, name } = chain;
  const known = waits.get(ctx.db) ?? new Map<number, Date | false>();
  waits.set(ctx.db, known);
  const since = known.get(chainId);
  const waiting = doubted || (since !== false && (await selectAnyPostponed(ctx.db, chainId)));
  if (!waiting) {
    if (since !== false) await clearAlarm(ctx.db.sql, 'chain-unconfirmed', String(chainId));
    known.set(chainId, false);
    return;
  }
  const now = ctx.clock.now();
  if (!since) known.set(chainId, now);
  else if (now.getTime() - since.getTime() >= patienceMs) {
    const details = { chainId, chain: name, since: since.toISOString() };
    await raiseAlarm(ctx.db.sql, { kind: 'chain-unconfirmed', subject: String(chainId), details });
  }
}
