import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { notifyQueue } from '../db/changes.ts';
import { isConflict } from '../db/conflict.ts';
import { isUnreachable, type Scope, type Tx } from '../db/connection.ts';
import { nestedInScope } from '../db/nested.ts';
import { Refusal } from '../errors.ts';
import { mapLimited } from '../lib/concurrency/map-limited.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { bytesOfUuid, uuidOfBytes, uuidOfVersion } from '../lib/ids.ts';
import { parseStrictJson } from '../lib/text/strict-json.ts';
import type { MailBranding } from '../mail/layout.ts';
import { queueCustomerMail } from '../mail/outbox.ts';
import { readMailBranding } from '../partners/branding.ts';
import { createInScope } from '../requests/create-in-scope.ts';
import { beginCollecting } from './collect/begin.ts';
import { collectMinutes } from './collect/rules.ts';
import { paymentRequestMail } from './mail.ts';
import { takePlanMail } from './mail-limit.ts';
import { readActiveMandate } from './mandates/read.ts';
import { afterCharge, type Day, retryMs, startOf } from './rules.ts';
import {
  courseOf,
  type DuePlan,
  insertCharge,
  lockDue,
  type NamedPlan,
  type PlanRow,
  selectDue,
  updateCharged,
  updateChargeFailed,
} from './store.ts';
import { watchStuckPlans } from './stuck.ts';

/**
 * How many charges are looked up together: a partner never waits for more of another's than this, however many are due.
 */
export const dueTogether = { ofOne: 20, all: 100 };
const maxPerTurn = 1000;
/** How many charges are made side by side: while one waits for its commit, another is made. */
const sideBySide = 4;

/** Why a charge could not be made, as stored on its plan. */
export const chargeFailures = [
  'rate_unavailable',
  'merchant_disabled',
  'partner_disabled',
  'currency_mismatch',
  'merchant_onboarding_incomplete',
  'other',
] as const;
export type ChargeFailure = (typeof chargeFailures)[number];

/**
 * Makes the due charges. Each is an ordinary request, created once, however many nodes try. A plan gets one per turn,
 * so charges missed in an outage follow one another. Alternates between partners, each with its longest-waiting plans
 * first. A failed charge is recorded on its plan and retried later, and delays no other plan.
 *
 * @returns how many were made
 */
export async function chargeDue(ctx: Context, signal: AbortSignal): Promise<number> {
  const now = ctx.clock.now();
  let made = 0;
  for (let settled = 0; settled < maxPerTurn; ) {
    const before = settled;
    let collects = false;
    await mapLimited(await selectDue(ctx.db, now, dueTogether), sideBySide, async (plan) => {
      if (signal.aborted) return;
      const outcome = await chargeOne(ctx, plan, now);
      if (outcome === 'made' || outcome === 'made to collect') made++;
      if (outcome === 'made to collect') collects = true;
      if (outcome !== 'not due') settled++;
    });
    if (collects) await notifyQueue(ctx.db, 'charges');
    if (settled === before || signal.aborted) break; // other nodes have what is left
  }
  await watchStuckPlans(ctx);
  return made;
}

type Outcome = 'made' | 'made to collect' | 'failed' | 'not due';

async function chargeOne(ctx: Context, due: DuePlan, now: Date): Promise<Outcome> {
  const scope = scopeOfRow(due);
  let locked: NamedPlan | null = null;
  try {
    return await ctx.db.scoped(scope, async (tx) => {
      locked = await lockDue(tx, scope, due.id, now);
      if (!locked) return 'not due';
      await charge({ ...ctx, db: nestedInScope(tx, scope, ctx.db) }, tx, scope, locked, now);
      return locked.collect === 'automatic' ? 'made to collect' : 'made';
    });
  } catch (error) {
    if (isUnreachable(error)) throw error;
    if (isConflict(error)) return 'not due'; // a later run takes it
    const plan = locked as NamedPlan | null;
    const failure = failureOf(error);
    if (failure === 'other') ctx.log.error({ err: error, plan_id: due.id }, 'a plan could not be charged');
    if (!plan) return 'not due'; // nothing was even begun
    const dueAt = new Date(now.getTime() + retryMs(plan.failures + 1));
    await ctx.db.scoped(scope, (tx) => updateChargeFailed(tx, scope, plan, failure, { now, dueAt }));
    return 'failed';
  }
}

/**
 * Makes one charge, all or nothing: plan, request and the link between them. With them it writes either the mail that
 * asks the customer to pay or, if the customer has agreed to automatic charges, the charge that the loops of `collect`
 * make next. The request comes as late as possible, because from then on the transaction holds its partner's clock. It
 * has no idempotency key, because an API call could use the same one first: the plan's lock and the charge's number
 * ensure that it is created once.
 */
async function charge(inner: Context, tx: Tx, scope: Scope, plan: NamedPlan, now: Date): Promise<void> {
  const { name, customer_name, customer_phone, next_on } = plan;
  // Without the address no receipt is mailed either: whoever reads that mailbox may be a stranger.
  const customer_email = plan.mails_stopped_at === null ? plan.customer_email : null;
  if (name === null || customer_name === null || next_on === null) throw new Error(`plan ${plan.id} charges nobody`);
  const branding: MailBranding | null = customer_email === null ? null : await readMailBranding(inner, scope.partnerId);
  const next = afterCharge(courseOf(plan));
  const number = plan.charges + 1;
  // After a missed date the next one may be past, too: its turn comes after other plans'.
  const dueAt = next && new Date(Math.max(startOf(next.nextOn).getTime(), now.getTime() + 1));
  await updateCharged(tx, scope, plan, next && dueAt && { ...next, dueAt }, {
    now,
    chargeKey: chargeKeyOf(inner, plan),
  });
  const secret = secretOf(inner, plan);
  const mandate = plan.collect === 'automatic' ? await readActiveMandate(tx, scope, plan.id) : null;
  const { row: request } = await createInScope(
    inner,
    scope,
    {
      account_id: plan.account_id,
      fiat_amount_int: Number(plan.fiat_int),
      fiat_currency_code: plan.fiat_code,
      payment_mode: 'invoice',
      memo: name,
      metadata: JSON.parse(plan.metadata),
      customer_name,
      ...(customer_email !== null && { customer_email }),
      ...(customer_phone !== null && { customer_phone }),
      ...(mandate !== null && { expiry_minutes: collectMinutes }),
    },
    {
      id: requestIdOf(secret, plan.id, next_on),
      referenceKey: secret,
      keyOrder: keyOrderOf(plan.metadata),
      allowedMinutes: [collectMinutes],
    },
  );
  const charging = { planId: plan.id, number, dueOn: next_on, requestId: request.id, madeAt: now };
  await insertCharge(tx, scope, charging);
  if (mandate !== null) return beginCollecting(inner, tx, scope, { plan, request, mandate, number, now });
  const to = await takePlanMail(inner, tx, scope, plan);
  if (to === null || branding === null) return;
  const mail = paymentRequestMail(inner, { plan, request, branding, to });
  await queueCustomerMail(inner, tx, scope, { requestId: request.id, purpose: 'ask', ...mail });
}

/** The key for a plan that has none. It is derived, so a plan whose key the database loses gets the same key again. */
function chargeKeyOf({ config }: Pick<Context, 'config'>, { id }: PlanRow): string {
  return uuidOfBytes(keyedHash(newest(config.secretKeys), 'charge', id).subarray(0, 16));
}

/**
 * The secret from which the ids and references of a plan's requests are derived: the plan's own key, which stays when
 * SECRET_KEYS changes. Before plans had keys, the newest of SECRET_KEYS was used; the next charge of such a plan still
 * uses it.
 */
function secretOf({ config }: Pick<Context, 'config'>, { id, charge_key: key }: PlanRow): SecretKey {
  return key === null ? newest(config.secretKeys) : { id, key: bytesOfUuid(key) };
}

/**
 * The id of the request for a date of a plan: always the same, and its reference with it. If the database loses a
 * charge, for example because a backup is restored, the charge that is made again is found as paid on the chain, and
 * the contract refuses to charge it twice. Like other ids it begins with its time.
 */
function requestIdOf(secret: SecretKey, planId: string, dueOn: Day): string {
  const bytes = keyedHash(secret, 'charge', `${planId} ${dueOn}`);
  bytes.writeUIntBE(startOf(dueOn).getTime(), 0, 6);
  return uuidOfVersion(7, bytes);
}

/** JavaScript moves keys that look like numbers to the front; the stored text keeps the order typed. */
function keyOrderOf(metadata: string): Map<string, string[]> {
  return parseStrictJson(Buffer.from(`{"metadata":${metadata}}`))?.keyOrder ?? new Map();
}

function failureOf(error: unknown): ChargeFailure {
  if (!(error instanceof Refusal)) return 'other';
  // The fields were checked when the plan was made. Only its currency may have lost all its rates since.
  if (error.code === 'invalid_request') return 'rate_unavailable';
  return chargeFailures.find((failure) => failure === error.code) ?? 'other';
}
