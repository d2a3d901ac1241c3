import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Alarm } from '../../db/alarm-kinds.ts';
import { clearAlarm, raiseAlarm, raisedOf } from '../../db/alarms.ts';
import { minuteMs } from '../../lib/durations.ts';
import { signerOf } from './account.ts';
import type { Account, AccountState } from './account-store.ts';
import { exceedsFeeLimit } from './fees.ts';
import type { RelayRow } from './store.ts';

/** If the first call in the queue is not mined for this long, an alarm is raised. */
const stuckMs = 10 * minuteMs;
const accountAlarms = ['relay-low-coin', 'relay-fees', 'relay-stuck'] as const;

/** Raises and ends the alarms of an account: too little coin, fees beyond the limit, a call that is not mined. */
export async function updateAccountAlarms(
  ctx: Context,
  chain: ChainConfig,
  { chainId, address }: Account,
  account: AccountState,
  late: RelayRow | null,
): Promise<void> {
  const { sql } = ctx.db;
  const subject = `${chainId}:${address}`;
  const about = { chainId, chain: chain.name, address };
  const limits = limitsOf(chain);
  const isConfigured = signerOf(ctx, address) !== undefined;
  const left = account.balanceWei - account.reservedWei;
  const wrong: Alarm[] = [];
  if (isConfigured && left < limits.minBalanceWei) {
    const details = { ...about, leftWei: String(left), leastWei: String(limits.minBalanceWei) };
    wrong.push({ kind: 'relay-low-coin', subject, details });
  }
  if (isConfigured && exceedsFeeLimit(account, limits)) {
    const details = { ...about, baseFeeWei: String(account.baseFeeWei), limitWei: String(limits.maxFeeWei) };
    wrong.push({ kind: 'relay-fees', subject, details });
  }
  if (late && late.allotted_ms >= stuckMs) {
    wrong.push({ kind: 'relay-stuck', subject, details: { ...about, nonce: late.nonce } });
  }
  for (const kind of await raisedOf(sql, subject, accountAlarms)) {
    if (!wrong.some((alarm) => alarm.kind === kind)) await clearAlarm(sql, kind, subject);
  }
  for (const alarm of wrong) await raiseAlarm(sql, alarm);
}
