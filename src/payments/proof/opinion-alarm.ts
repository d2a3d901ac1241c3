import type { ChainConfig } from '../../chain/config.ts';
import type { Context } from '../../context.ts';
import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import type { Database } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { selectAnyPutOff } from '../queue-store.ts';

/** An endpoint may be away for as long before the operator hears of it. */
const patienceMs = 2 * minuteMs;

/** Since when this process has waited for a chain's second endpoint; false once it knows that nothing waits. */
const waits = new WeakMap<Database, Map<number, Date | false>>();

/**
 * Notes whether verification waits for an endpoint of a chain: after two minutes an alarm is raised, and cleared when
 * nothing waits any more.
 *
 * @param doubted whether something could not be confirmed in this pass; what was put off before waits as well
 */
export async function noteOpinions(ctx: Context, chain: ChainConfig, doubted: boolean): Promise<void> {
  const known = waits.get(ctx.db) ?? new Map<number, Date | false>();
  waits.set(ctx.db, known);
  const since = known.get(chain.chainId);
  const waiting = doubted || (since !== false && (await selectAnyPutOff(ctx.db, chain.chainId)));
  const name = `chain-${chain.chainId}-unconfirmed`;
  if (!waiting) {
    if (since !== false) await clearAlarm(ctx.db.sql, name);
    known.set(chain.chainId, false);
    return;
  }
  const now = ctx.clock.now();
  if (!since) known.set(chain.chainId, now);
  else if (now.getTime() - since.getTime() >= patienceMs) {
    await raiseAlarm(
      ctx.db.sql,
      name,
      `Payments on ${chain.name} wait to be verified: its RPC endpoints do not all answer and agree since ${since.toISOString()}.`,
    );
  }
}
