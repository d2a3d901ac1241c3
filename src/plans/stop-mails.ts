import { theService, withAuditIn } from '../audit/write.ts';
import { refuseUnknownLink } from '../auth/missing-secret-key.ts';
import { scopeOfRequest } from '../auth/scope.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { isUuid } from '../lib/ids.ts';
import { deleteWaitingPlanMails, deleteWaitingRequestMails } from '../mail/outbox.ts';
import { payPageUrl } from '../requests/render.ts';
import { selectCharges } from './charges-store.ts';
import { type PlanRow, selectPlanOfRequest, updateMailsStopped } from './store.ts';

/** How many charges are searched for mails that still wait: those of the days in which a mail is retried. */
const maxWaiting = 100;

const macOf = (secret: SecretKey, planId: string) => keyedHash(secret, 'plan-mails', planId);

/** Where the recipient of a plan's mails can stop them: below the page of the request that a mail asks for. */
export function stopMailsUrl(config: Config, requestId: string, planId: string): string {
  return `${payPageUrl(config, requestId)}/stop-mails/${macOf(newest(config.secretKeys), planId).toString('base64url')}`;
}

/** A plan whose mails the holder of a link may stop. */
export type PlanOfLink = { scope: Scope; plan: PlanRow };

/**
 * The plan that a link leads to; null for a request that is not a charge, and for a token that is not its plan's.
 *
 * @throws MissingSecretKey
 */
export async function readPlanOfLink(ctx: Context, requestId: string, token: string): Promise<PlanOfLink | null> {
  const scope = isUuid(requestId) ? await scopeOfRequest(ctx.db, requestId) : null;
  const plan = scope && (await ctx.db.scoped(scope, (tx) => selectPlanOfRequest(tx, scope, requestId)));
  if (!plan) return null;
  const mac = Buffer.from(token, 'base64url');
  if (matchesAnyKey(ctx.config.secretKeys, (secret) => macOf(secret, plan.id), mac)) return { scope, plan };
  await refuseUnknownLink(ctx);
  return null;
}

/**
 * Permanently stops the mails of a plan, not the plan. Later charges are made without the customer's address, so
 * neither their link nor a receipt is mailed, and payment request mails still waiting are not sent. A second call
 * changes nothing.
 */
export async function stopMails(ctx: Context, { scope, plan }: PlanOfLink): Promise<void> {
  await withAuditIn(
    ctx,
    scope,
    theService, // the customer is not signed in
    ({ db, clock }) =>
      db.scoped(scope, async (tx) => {
        if (!(await updateMailsStopped(tx, scope, plan.id, clock.now()))) return false;
        await deleteWaitingPlanMails(tx, scope, [plan.id]);
        const charges = await selectCharges(tx, scope, plan.id, null, maxWaiting);
        await deleteWaitingRequestMails(
          tx,
          scope,
          charges.map(({ request_id }) => request_id),
        );
        return true;
      }),
    (stopped) =>
      stopped ? { ...scope, action: 'plan.mails_stopped', object: { kind: 'plan', id: plan.id }, details: {} } : null,
  );
}
