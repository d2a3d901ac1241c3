import type { Context } from '../context.ts';
import { minuteMs } from '../lib/durations.ts';
import { newest } from '../lib/encrypt.ts';
import { clearAlarms, raiseAlarm } from './alarms.ts';
import type { Sql } from './connection.ts';
import { keyIdIn, missingKeys, noteKeyInFront } from './secret-keys.ts';

/** What is due for longer than this is not being processed by any node: an attempt moves it or leases it. */
const overdueMs = 2 * minuteMs;
/** The most mails that are counted: enough to notice a missing key. */
const maxMails = 10_000;

const kind = 'secret_key_missing';

/** How many webhook endpoints have events, and how many mails are there, that have been due for two minutes. */
type Waiting = { key_id: string; endpoints: number; mails: number };

/**
 * Raises an alarm for each secret key that this node lacks and that something has waited for: nodes leave such events
 * and mails to those that have the key. Ends the alarm, whichever node raised it, once nothing waits for the key. The
 * log names keys that this node lacks, whether something waits or not. Notes which key this node has in front.
 *
 * @returns how many keys something waits for
 */
export async function alarmMissingKeys({
  db: { sql },
  config,
  log,
}: Pick<Context, 'db' | 'config' | 'log'>): Promise<number> {
  if (await noteKeyInFront(sql, config.secretKeys))
    log.warn(
      { key: newest(config.secretKeys).id },
      '`secrets forget` gave up a secret key that this node has in front; it is required again. Give every node a list with another key in front first',
    );
  const missing = await missingKeys(sql, config.secretKeys);
  if (missing.length > 0)
    log.warn(
      { keys: missing },
      'other nodes use secret keys that this one lacks, so it answers API keys and links made there with 503, and does not know sessions: restart it with the same SECRET_KEYS',
    );
  const held = config.secretKeys.map(({ id }) => id);
  // Without a mail server every mail waits, whatever its key; the alarm `mail_transport` says so.
  const sendsMails = config.mail !== null || config.sandbox;
  const known = (await selectWaiting(sql, held)).map((row) => (sendsMails ? row : { ...row, mails: 0 }));
  const lacking = known.filter(({ key_id, endpoints, mails }) => endpoints + mails > 0 && !held.includes(key_id));
  for (const { key_id: keyId, endpoints, mails } of lacking)
    await raiseAlarm(sql, { kind, subject: keyId, details: { keyId, endpoints, mails } });
  const ended = known.filter(({ endpoints, mails }) => endpoints + mails === 0);
  if (ended.length > 0)
    await clearAlarms(
      sql,
      ended.map(({ key_id }) => ({ kind, subject: key_id })),
    );
  return lacking.length;
}

/**
 * Counts what is overdue, by key: of keys that are not among `held`, and of keys whose alarm is raised, even if nothing
 * of theirs is overdue. An endpoint whose deliveries are under way, or that answered lately, is being served, however
 * many of its events are due. One that is failing waits for its probe.
 */
function selectWaiting(sql: Sql, held: readonly string[]): Promise<Waiting[]> {
  const ago = sql`now() - ${overdueMs} * interval '1 ms'`;
  return sql<Waiting[]>`
    with raised as (
      select subject as key_id from alarms where kind = ${kind} and cleared_at is null
    ), secrets as (
      select partner_id, test_mode, ${keyIdIn(sql, sql`secret`)} as key_id from webhook_endpoints
      union
      select partner_id, test_mode, ${keyIdIn(sql, sql`pending_secret`)} from webhook_endpoints
      where pending_secret is not null
    ), concerned as (
      select * from secrets where key_id <> all(${held}::text[]) or key_id in (table raised)
    ), stalled as (
      select c.key_id from concerned c join webhook_endpoints e using (partner_id, test_mode)
        cross join lateral (
          select d.next_attempt_at, d.lease_until from webhook_deliveries d
          where d.partner_id = e.partner_id and d.test_mode = e.test_mode and d.state = 'waiting'
          order by d.next_attempt_at limit 1) first
      where e.url is not null and e.disabled_at is null and greatest(first.next_attempt_at, e.probe_at) <= ${ago}
        and coalesce(greatest(first.lease_until, e.last_success_at) <= ${ago}, true)
    ), unsent as (
      select ${keyIdIn(sql, sql`sealed`)} as key_id from (
        select sealed from mails
        where sent_at is null and next_attempt_at <= ${ago} and sealed is not null limit ${maxMails}) m
    )
    select key_id, count(*) filter (where is_endpoint)::int as endpoints, count(*) filter (where not is_endpoint)::int as mails
    from (select key_id, true as is_endpoint from stalled union all select key_id, false from unsent
      union all select key_id, null from raised) w
    where key_id <> all(${held}::text[]) or key_id in (table raised)
    group by key_id order by key_id`;
}
