import { randomUUIDv7 } from 'node:crypto';
import type { Context } from '../context.ts';
import { hourMs } from '../lib/durations.ts';
import { decrypt } from '../lib/encrypt.ts';
import { type Step, traced } from '../lib/trace.ts';
import { createPoster, type Poster, type PosterOptions } from '../net/post.ts';
import { outboundPolicy } from './endpoint.ts';
import type { AttemptRecord, ClaimedDelivery, ClaimedEndpoint } from './queue-store.ts';
import { isActivated, isGone, isSuccess, judgeAttempt, leaseMs, type Tally } from './rules.ts';
import { signedHeaders } from './sign.ts';

/** What deliveries need besides the context. */
export type DeliveryDeps = {
  /** Each mode has its own connections, because their rules differ. */
  posters: { test: Poster; live: Poster };
  random?: () => number;
};

/** The HTTP clients of deliveries, one per mode. Close both posters at the end. */
export function createDeliveryDeps(ctx: Context, options: PosterOptions = {}): DeliveryDeps {
  const poster = (testMode: boolean) => createPoster(outboundPolicy(ctx.config, testMode), options);
  return { posters: { test: poster(true), live: poster(false) } };
}

export type FinishedAttempt = { claimed: ClaimedDelivery; record: AttemptRecord; succeeded: boolean; gone: boolean };

/** Decrypted once for each claim of an endpoint: one of its deliveries would take as long as the rest of signing. */
const openedSecrets = new WeakMap<Uint8Array, string>();

function openSecret({ config }: Context, encrypted: Uint8Array): string {
  const known = openedSecrets.get(encrypted);
  if (known !== undefined) return known;
  const opened = decrypt(config.secretKeys, encrypted);
  openedSecrets.set(encrypted, opened);
  return opened;
}

/** The secrets to sign with. What is not needed is not decrypted, since its key may be gone. */
function secretsAt(ctx: Context, endpoint: ClaimedEndpoint, at: Date): { active: string; next: string | null } {
  const { secret, pending_secret: pending, pending_since } = endpoint;
  if (pending === null) return { active: openSecret(ctx, secret), next: null };
  if (isActivated(pending_since, at)) return { active: openSecret(ctx, pending), next: null };
  return { active: openSecret(ctx, secret), next: openSecret(ctx, pending) };
}

/** One attempt: signs for this moment, sends, and decides what follows. Writes nothing. */
export function attempt(ctx: Context, deps: DeliveryDeps, claimed: ClaimedDelivery): Promise<FinishedAttempt> {
  const { id, request_id, attempts } = claimed;
  const step = (): Step => ({
    name: 'deliver webhook',
    kind: 'internal',
    attributes: { 'quittance.delivery_id': id, 'quittance.request_id': request_id, 'quittance.attempt': attempts + 1 },
  });
  return traced(step, async (span) => {
    const finished = await makeAttempt(ctx, deps, claimed);
    const { state, status_code, error, duration_ms } = finished.record;
    span?.set({ 'quittance.state': state });
    if (status_code !== null) span?.set({ 'http.response.status_code': status_code });
    if (error !== null) span?.set({ 'error.type': error });
    // No part of the address: a receiver's path or name may be a secret.
    const fields = { delivery_id: id, request_id, attempt: attempts + 1, state, status_code, error, duration_ms };
    ctx.log.debug(fields, 'a delivery was attempted');
    return finished;
  });
}

/**
 * When an attempt began. A node's clock may be wrong, so this is at most an hour from the claim: then there is a
 * partition for it, and `attemptsOf` finds it. It is computed once, because it is part of the key: it identifies an
 * attempt that is recorded again because the first answer was lost.
 */
function nearClaim(startedAt: Date, { lease_until }: ClaimedEndpoint): Date {
  const claimedMs = lease_until.getTime() - leaseMs;
  return new Date(Math.max(claimedMs - hourMs, Math.min(claimedMs + hourMs, startedAt.getTime())));
}

/**
 * The time to sign with. An attempt begins while its lease lasts, which the database's clock decides. So it is never
 * further from that clock than the lease is long, whatever this node's clock says: receivers refuse a signature that is
 * five minutes off, and a pending secret must not take over a day early.
 */
function duringLease(startedAt: Date, { lease_until }: ClaimedEndpoint): Date {
  const endMs = lease_until.getTime();
  return new Date(Math.max(endMs - leaseMs, Math.min(endMs, startedAt.getTime())));
}

async function makeAttempt(ctx: Context, deps: DeliveryDeps, claimed: ClaimedDelivery): Promise<FinishedAttempt> {
  const startedAt = ctx.clock.now();
  const { endpoint } = claimed;
  const signedAt = duringLease(startedAt, endpoint);
  const { active, next: pending } = secretsAt(ctx, endpoint, signedAt);
  const signed = { deliveryId: claimed.id, event: claimed.event, body: claimed.body };
  const headers = signedHeaders(signed, active, pending, signedAt);
  const poster = claimed.test_mode ? deps.posters.test : deps.posters.live;
  const outcome = await poster.post(endpoint.url, headers, claimed.body);
  const next = judgeAttempt(claimed.attempts, outcome, ctx.config.webhookScheduleMs, ctx.clock.now(), deps.random);
  const answered = 'statusCode' in outcome;
  const record: AttemptRecord = {
    partner_id: claimed.partner_id,
    test_mode: claimed.test_mode,
    delivery_id: claimed.id,
    lease: claimed.lease,
    attempt_id: randomUUIDv7(),
    url: endpoint.url,
    started_at: nearClaim(startedAt, endpoint).toISOString(),
    duration_ms: outcome.durationMs,
    status_code: answered ? outcome.statusCode : null,
    error: answered ? (isSuccess(outcome) ? null : 'status') : outcome.error,
    request_headers: headers,
    response_headers: answered ? outcome.responseHeaders : null,
    response_body: answered ? outcome.responseBody : null,
    state: next.state,
    wait_ms: next.waitMs,
  };
  return { claimed, record, succeeded: isSuccess(outcome), gone: isGone(outcome) };
}

/** Summarises attempts of one endpoint, in the order in which they ended. */
export function tally(finished: FinishedAttempt[]): Tally {
  const last = finished.findLastIndex(({ succeeded }) => succeeded);
  return {
    succeeded: last >= 0,
    failures: finished.length - 1 - last,
    gone: finished.some(({ gone }) => gone),
  };
}
