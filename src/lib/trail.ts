import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './trace.ts';

/** Identifies a piece of work: each log line that is written during it has these fields. */
export type Trail = {
  readonly fields: Readonly<Record<string, string | number>>;
  /** The step that a tracer is timing; null without a tracer. */
  readonly span: Span | null;
};

/**
 * It survives `await`, timers and callbacks, but not handlers that an emitter calls: these must enter the trail again.
 */
const trails = new AsyncLocalStorage<Trail | undefined>();

const noTrail: Trail = { fields: {}, span: null };

/** The trail of the work under way. */
export const currentTrail = (): Trail => trails.getStore() ?? noTrail;

/** Runs work as part of this trail alone. */
export const inTrail = <T>(trail: Trail, work: () => T): T => trails.run(trail, work);

/** Runs work whose log lines have these fields in addition to those of the work that it is part of. */
export function withFields<T>(fields: Trail['fields'], work: () => T): T {
  const outer = currentTrail();
  return trails.run({ ...outer, fields: { ...outer.fields, ...fields } }, work);
}

/** Runs work that outlives the work that happens to start it, such as a connection that others use later. */
export const outsideTrails = <T>(work: () => T): T => trails.run(undefined, work);

/** The fields that a log line adds to its own. */
export function trailFields(): Record<string, string | number> {
  const { fields, span } = currentTrail();
  return span ? { ...fields, trace_id: span.traceId } : { ...fields };
}
