import type { Clock } from './time.ts';

/**
 * Runs once what many callers request. Callers share a run in progress, and its result for `keepMs` after it ends.
 * Failures are not kept.
 */
export function cachedFor<T>(keepMs: number, clock: Clock, make: () => Promise<T>): () => Promise<T> {
  let kept: { made: Promise<T>; endedAtMs: number | null } | null = null;
  return () => {
    const now = clock.now().getTime();
    if (kept && (kept.endedAtMs === null || Math.abs(now - kept.endedAtMs) < keepMs)) return kept.made;
    const own: typeof kept = { made: make(), endedAtMs: null };
    kept = own;
    own.made.then(
      () => (own.endedAtMs = clock.now().getTime()),
      () => (kept = kept === own ? null : kept),
    );
    return own.made;
  };
}
