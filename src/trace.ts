import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type * as Api from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import type { TracingConfig } from './config/tracing.ts';
import { minuteMs } from './lib/durations.ts';
import { type RemoteSpan, type Span, type Step, setTracer } from './lib/trace.ts';
import { outsideTrails } from './lib/trail.ts';

/** How long one sending takes at most, and the end of the process waits for the last. */
const sendMs = 5_000;
const lastMs = 2_000;
/** When a sending that has not ended by itself is given up. */
const giveUpMs = sendMs + 1_000;
/** Beyond these, spans are dropped: calls never wait for a collector. */
const maxWaiting = 4_096;
const batch = 512;
const sendEveryMs = 2_000;

/**
 * Sends spans to the operator's collector from now on. This is the only place that loads OpenTelemetry.
 *
 * @returns what sends the last spans, within two seconds, and ends it
 */
export async function startTracing(tracing: TracingConfig, log: Logger): Promise<() => Promise<void>> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const { url, headers, sampler } = tracing;
  const exporter = new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: sendMs,
    concurrencyLimit: maxWaiting / batch,
    httpAgentOptions: endingConnections,
  });
  const share = new sdk.TraceIdRatioBasedSampler(sampler.ratio);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes(tracing.resource),
    sampler: sampler.parent ? new sdk.ParentBasedSampler({ root: share }) : share,
    spanLimits: { attributeValueLengthLimit: 200 },
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: complaining(exporter, log),
        maxQueueSize: maxWaiting,
        maxExportBatchSize: batch,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: giveUpMs,
      }),
    ],
  });
  const tracer = provider.getTracer('quittance');
  setTracer({
    start: (step, parent) => {
      const kind = api.SpanKind[step.kind.toUpperCase() as 'SERVER' | 'CLIENT' | 'INTERNAL'];
      return new OpenSpan(
        api,
        tracer.startSpan(step.name, { kind, attributes: step.attributes }, contextOf(api, parent)),
      );
    },
  });
  return async () => {
    setTracer(null);
    const limit = new Promise<void>((resolve) => setTimeout(resolve, lastMs).unref());
    await Promise.race([provider.shutdown().catch(() => {}), limit]);
  };
}

/**
 * Connections for one sending each, which end when it is given up. The exporter itself waits as long as bytes come: a
 * collector that drips its answers would hold every sending that may be under way, and nothing would be sent any more.
 */
function endingConnections(protocol: string): Agent {
  const agent = protocol === 'https:' ? new TlsAgent() : new Agent();
  const open = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = open(options, callback);
    const limit = setTimeout(() => socket?.destroy(), giveUpMs);
    socket?.once('close', () => clearTimeout(limit));
    return socket;
  };
  return agent;
}

/** A span of OpenTelemetry's as the service's steps know it. */
class OpenSpan implements Span {
  readonly traceId: string;
  readonly inner: Api.Span;
  readonly #api: typeof Api;

  constructor(api: typeof Api, inner: Api.Span) {
    this.inner = inner;
    this.traceId = inner.spanContext().traceId;
    this.#api = api;
  }

  set(attributes: Step['attributes'] & object): void {
    this.inner.setAttributes(attributes);
  }

  end(fault?: string): void {
    if (fault !== undefined) {
      this.inner.setStatus({ code: this.#api.SpanStatusCode.ERROR });
      this.inner.setAttribute('error.type', fault);
    }
    this.inner.end();
  }
}

function contextOf(api: typeof Api, parent: Span | RemoteSpan | null): Api.Context {
  const { ROOT_CONTEXT, trace, TraceFlags } = api;
  if (parent === null) return ROOT_CONTEXT;
  if (parent instanceof OpenSpan) return trace.setSpan(ROOT_CONTEXT, parent.inner);
  const { traceId, spanId, isSampled } = parent as RemoteSpan;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** Says once in ten minutes that spans are lost, and why. Only their reader misses them. */
function complaining(exporter: SpanExporter, log: Logger): SpanExporter {
  let quietUntil = 0;
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0 && performance.now() >= quietUntil) {
          quietUntil = performance.now() + 10 * minuteMs;
          const { code, message } = (result.error ?? {}) as Partial<NodeJS.ErrnoException>;
          const reason = code ?? message; // a timeout and a status that asks for patience have no code
          outsideTrails(() => log.warn({ spans: spans.length, reason }, 'traces could not be sent'));
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}
