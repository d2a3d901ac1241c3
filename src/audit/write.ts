import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { nestedIn, nestedInScope } from '../db/nested.ts';
import { AccessChanged } from '../errors.ts';
import { isUuid, nilUuid } from '../lib/ids.ts';
import { keptUserAgent } from '../lib/text/user-agent.ts';
import type { Actor, AuditEntry } from './actions.ts';
import { detailsJson } from './rules.ts';
import { appendEntry, isEnabled, selectRole } from './store.ts';

/** The partner id of entries that concern no partner. */
export const noPartner = nilUuid;

/** The actor of actions that the service takes by itself. */
export const theService: Actor = { kind: 'service' };

/**
 * Writes an entry into its log. Call it as the last statement of the transaction that it describes, because the end of
 * the log stays locked until commit.
 *
 * @throws AccessChanged if the partner's user who acts was removed, or given another role, since the act began
 */
export async function audit(
  ctx: Pick<Context, 'clock'>,
  tx: Tx | Sql,
  actor: Actor,
  { action, partnerId, testMode, object, details }: AuditEntry,
): Promise<void> {
  const from = 'ip' in actor ? { ip: actor.ip, userAgent: keptUserAgent(actor.userAgent) } : null;
  await appendEntry(tx, {
    partner_id: partnerId ?? noPartner,
    at: ctx.clock.now(),
    test_mode: testMode,
    actor_kind: actor.kind,
    actor_id: idOf(actor),
    actor_name: nameOf(actor),
    action,
    object_kind: object.kind,
    // Somebody may have typed it in capitals. Names and pages are found by the id in lower case, as it is stored
    // elsewhere.
    object_id: isUuid(object.id) ? object.id.toLowerCase() : object.id,
    ip: from?.ip ?? null,
    user_agent: from?.userAgent ?? null,
    details: detailsJson(details),
  });
  if (!('role' in actor) || actor.role === null) return;
  // Changes of one's own role or access are decided under the lock of the team.
  if (object.id === actor.userId && (action === 'user.role_changed' || action === 'user.disabled')) return;
  // Whoever changes a role writes to the same log before committing, so from here on no role changes.
  if ((await selectRole(tx, actor.userId)) !== actor.role) throw new AccessChanged();
}

function idOf(actor: Actor): string | null {
  if (!('ip' in actor)) return null;
  if (actor.kind === 'merchant') return actor.accountId;
  return actor.kind === 'api_key' ? actor.keyId : actor.userId;
}

function nameOf(actor: Actor): string {
  if (actor.kind === 'command_line') return 'command line';
  if (actor.kind === 'service') return 'the service';
  if (actor.kind === 'merchant') return actor.walletAddress;
  return actor.kind === 'api_key' ? `API key ${actor.hint}` : actor.email;
}

type AuditContext = Pick<Context, 'db' | 'clock'>;

/**
 * Runs a verb and writes its entry into the audit log in one transaction, so neither is ever without the other. For
 * what concerns several scopes or none: the transaction sees all partners.
 *
 * @param work runs with a context whose database is that transaction; it must not wait for anything else
 * @param entryOf makes the log's entry from the result; null when nothing was done
 * @throws AccessChanged also if the operator who acts was disabled since the act began
 */
export function withAudit<C extends AuditContext, T>(
  ctx: C,
  actor: Actor,
  work: (inner: C) => Promise<T>,
  entryOf: (result: T) => AuditEntry | null,
): Promise<T> {
  return ctx.db.transaction(async (tx) => {
    const result = await workAndAudit({ ...ctx, db: nestedIn(tx, ctx.db) }, tx, actor, work, entryOf);
    // Only here: a transaction of one scope does not see operators.
    if (actor.kind === 'operator' && !(await isEnabled(tx, actor.userId))) throw new AccessChanged();
    return result;
  });
}

/** As `withAudit`, for what concerns one scope alone: the transaction sees nothing beyond. */
export function withAuditIn<C extends AuditContext, T>(
  ctx: C,
  scope: Scope,
  actor: Actor,
  work: (inner: C) => Promise<T>,
  entryOf: (result: T) => AuditEntry | null,
): Promise<T> {
  return ctx.db.scoped(scope, (tx) =>
    workAndAudit({ ...ctx, db: nestedInScope(tx, scope, ctx.db) }, tx, actor, work, entryOf),
  );
}

async function workAndAudit<C extends AuditContext, T>(
  inner: C,
  tx: Tx,
  actor: Actor,
  work: (inner: C) => Promise<T>,
  entryOf: (result: T) => AuditEntry | null,
): Promise<T> {
  const result = await work(inner);
  const entry = entryOf(result);
  if (entry) await audit(inner, tx, actor, entry);
  return result;
}
