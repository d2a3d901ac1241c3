import { dayMs, hourMs, minuteMs } from '../lib/durations.ts';
import { jitter } from '../lib/time.ts';
import type { PostOutcome } from '../net/post.ts';

/** A pending secret takes over automatically after this time. */
export const activateAfterMs = dayMs;
/** An endpoint without a success for this long is disabled. */
export const disableAfterMs = 120 * hourMs;
/** Stored as the reason; a value never changes its meaning. */
export const deadReason = 'no_success_for_120_hours';
/** After this many failures in a row, an endpoint gets one probe at a time. */
export const probeAfterFailures = 10;
/** How long a claimed delivery is reserved for its process: one attempt, and time to record it. */
export const leaseMs = 20_000;
/** Updates of URL or secret, per partner and calendar minute. */
export const updatesPerMinute = 10;
/** How many attempts one process has in progress at a time, over all endpoints; those that are slow not counted. */
export const maxPosts = 512;
/** How many more deliveries it claims ahead, to begin when others end. */
export const maxAhead = 512;
/** An attempt without an answer after this time is slow. */
export const slowAfterMs = 1_000;
/** How many slow attempts one process has in progress at a time. */
export const maxSlow = 1024;
/** How many attempts to endpoints that are not known to answer are in progress, slow ones not counted. */
export const maxUnproven = maxPosts / 2;
/** How many attempts one endpoint may have in progress at first, and once it has answered as many. */
export const firstWindow = 8;
export const maxWindow = 64;
/** An endpoint whose last success is no older is known to answer, unless it has failed since. */
export const provenForMs = hourMs;

const maxProbeWaitMs = 5 * minuteMs;
/** The share by which a wait is made longer or shorter at random. */
const jitterShare = 0.2;

/** True for a status that ends the delivery: 2xx. */
export function isSuccess(outcome: PostOutcome): boolean {
  return 'statusCode' in outcome && outcome.statusCode >= 200 && outcome.statusCode < 300;
}

/** 410 Gone: the receiver wants no more events. */
export function isGone(outcome: PostOutcome): boolean {
  return 'statusCode' in outcome && outcome.statusCode === 410;
}

export type Next = { state: 'delivered' | 'waiting' | 'exhausted'; waitMs: number };

/**
 * The delivery's next state after an attempt.
 *
 * @param attempts the number of earlier attempts in this round
 * @param scheduleMs the waits before each attempt, including the first
 */
export function judgeAttempt(
  attempts: number,
  outcome: PostOutcome,
  scheduleMs: readonly number[],
  now: Date,
  random?: () => number,
): Next {
  if (isSuccess(outcome)) return { state: 'delivered', waitMs: 0 };
  const planned = scheduleMs[attempts + 1];
  // 410 disables the endpoint. The event waits until it is enabled again, even after its last attempt.
  if (planned === undefined) return { state: isGone(outcome) ? 'waiting' : 'exhausted', waitMs: 0 };
  const waitMs = jitter(planned, jitterShare, random);
  const wished = 'statusCode' in outcome ? retryAfterMs(outcome.retryAfter, now) : 0;
  return { state: 'waiting', waitMs: Math.min(Math.max(waitMs, wished), 2 * waitMs) };
}

/** `Retry-After` in seconds or as a date, in milliseconds from now; 0 when absent or unreadable. */
export function retryAfterMs(header: string | null, now: Date): number {
  if (header === null) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}

/** The health of an endpoint, as stored. */
export type Health = {
  failures: number;
  failing_since: Date | null;
  last_success_at: Date | null;
  disabled_reason: string | null;
};

/** Summary of a batch of attempts to one endpoint: `failures` counts those after the last success. */
export type Tally = { succeeded: boolean; failures: number; gone: boolean };

/**
 * The health of an endpoint after a batch of attempts.
 *
 * @returns also `probeWaitMs`: how long to wait before the next probe, null while attempts are unrestricted
 */
export function judgeHealth(
  before: Health,
  tally: Tally,
  scheduleMs: readonly number[],
  now: Date,
): Health & { probeWaitMs: number | null } {
  const failures = (tally.succeeded ? 0 : before.failures) + tally.failures;
  const failingSince = failures === 0 ? null : tally.succeeded ? now : (before.failing_since ?? now);
  const tooLong = failingSince !== null && now.getTime() - failingSince.getTime() >= disableAfterMs;
  const reason = tally.gone ? 'gone' : tooLong ? deadReason : null;
  return {
    failures,
    failing_since: failingSince,
    last_success_at: tally.succeeded ? now : before.last_success_at,
    disabled_reason: before.disabled_reason ?? reason,
    probeWaitMs: probeWaitMs(failures, scheduleMs),
  };
}

/**
 * Probes follow the schedule of a delivery's first attempts, at most 5 min apart, so that a recovery is noticed soon.
 */
function probeWaitMs(failures: number, scheduleMs: readonly number[]): number | null {
  if (failures < probeAfterFailures) return null;
  const step = Math.min(failures - probeAfterFailures + 1, scheduleMs.length - 1);
  return Math.min(scheduleMs[step] ?? 0, maxProbeWaitMs);
}

/** Nothing to write: a healthy endpoint succeeded again, and its last success is known to the minute. */
export function isUnchanged(before: Health, tally: Tally, now: Date): boolean {
  const { failures, last_success_at } = before;
  if (failures > 0 || tally.failures > 0 || !last_success_at) return false;
  return Math.abs(now.getTime() - last_success_at.getTime()) < minuteMs;
}

/** True once a pending secret is the active one. */
export function isActivated(pendingSince: Date | null, now: Date): boolean {
  return pendingSince !== null && now.getTime() - pendingSince.getTime() >= activateAfterMs;
}
