import { currentTrail, inTrail, type Trail, withFields } from './trail.ts';

/**
 * They never contain a value of a partner or a customer, a parameter, a secret, or more of an address than its host.
 */
export type Attributes = Record<string, string | number | boolean>;

/** A step of work. */
export type Step = {
  /** One of few names: a route, the beginning of a statement, a method. */
  name: string;
  /** `client`: a call to another system. It is part of other work, and not worth a trace alone. */
  kind: 'server' | 'client' | 'internal';
  attributes?: Attributes;
};

/** A step under way. */
export type Span = {
  /** 32 hex digits. */
  readonly traceId: string;
  set(attributes: Attributes): void;
  /** @param fault the kind of failure; not its message, which may quote what was sent */
  end(fault?: string): void;
};

/** A step of another service that ours is part of, from `traceparent`. */
export type RemoteSpan = { traceId: string; spanId: string; isSampled: boolean };

export type Tracer = { start(step: Step, parent: Span | RemoteSpan | null): Span };

let tracer: Tracer | null = null;

/** From now on steps are reported to this tracer; with null they cost nothing again. */
export function setTracer(one: Tracer | null): void {
  tracer = one;
}

/** Opens the trail of an incoming call. Whoever opens it ends its span. */
export function openTrail(fields: Trail['fields'], step: () => Step, parent: RemoteSpan | null): Trail {
  if (tracer) return { fields, span: tracer.start(step(), parent) };
  return { fields: parent ? { ...fields, trace_id: parent.traceId } : fields, span: null };
}

/**
 * Runs a step of work. Without a tracer it is only run.
 *
 * @param describe called only with a tracer
 * @param work is given the span, to say how it went
 */
export function traced<T>(describe: () => Step, work: (span: Span | null) => Promise<T>): Promise<T> {
  if (!tracer) return work(null);
  const { fields, span: parent } = currentTrail();
  const step = describe();
  if (step.kind === 'client' && !parent) return work(null);
  const span = tracer.start(step, parent);
  return inTrail({ fields, span }, async () => {
    try {
      const value = await work(span);
      span.end();
      return value;
    } catch (error) {
      span.end(faultOf(error));
      throw error;
    }
  });
}

/** Runs one pass of a loop: a trace of its own, whose log lines name the loop. */
export const loopPass = <T>(name: string, run: () => Promise<T>): Promise<T> =>
  withFields({ loop: name }, () =>
    traced(
      () => ({ name: `loop: ${name}`, kind: 'internal' }),
      () => run(),
    ),
  );

/** An SQLSTATE, the kind of an RPC error, a refusal's code, or else the error's name. */
function faultOf(error: unknown): string {
  const { code, kind, name } = error as { code?: unknown; kind?: unknown; name?: unknown };
  return [code, kind, name].find((one) => typeof one === 'string') ?? 'error';
}
