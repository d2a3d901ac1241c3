/** Where traces are sent, from the standard settings of OpenTelemetry. */
export type TracingConfig = {
  /** OTLP over HTTP. */
  url: string;
  /** May contain a token: never log them. */
  headers: Record<string, string>;
  /** The attributes of every span: `service.name` and those that the operator adds. */
  resource: Record<string, string>;
  sampler: Sampler;
};

/** The share of calls and loop runs that are traced. With `parent`, a proxy's decision about a call comes first. */
export type Sampler = { ratio: number; parent: boolean };

const samplers = [
  ...['always_on', 'always_off', 'traceidratio'],
  ...['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'],
];

/** Reads `OTEL_…`. Null without an endpoint: then nothing is traced. */
export function readTracing(env: NodeJS.ProcessEnv, faults: string[]): TracingConfig | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint) return null;
  const url = URL.parse(endpoint);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash)
    faults.push('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address without user and query');
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && protocol !== 'http/json')
    faults.push('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, which every collector takes beside http/protobuf');
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: readPairs('OTEL_EXPORTER_OTLP_HEADERS', env, faults),
    resource: {
      ...readPairs('OTEL_RESOURCE_ATTRIBUTES', env, faults),
      'service.name': env.OTEL_SERVICE_NAME || 'quittance',
    },
    sampler: readSampler(env, faults),
  };
}

/** `name=value,…`, values percent-encoded. A fault quotes no value. */
function readPairs(name: string, env: NodeJS.ProcessEnv, faults: string[]): Record<string, string> {
  const parts = (env[name] ?? '').split(',').filter((part) => part.trim() !== '');
  const pairs = parts.map((part) => /^\s*([\w.!#$&^`|~+-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(part));
  try {
    if (pairs.every((pair) => pair !== null))
      return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, decodeURIComponent(value)]));
  } catch {
    // a value that is not percent-encoded; reported below
  }
  faults.push(`${name} must be pairs name=value, separated by commas, with percent-encoded values`);
  return {};
}

function readSampler(env: NodeJS.ProcessEnv, faults: string[]): Sampler {
  const name = env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  if (!samplers.includes(name)) faults.push(`OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}`);
  const parent = name.startsWith('parentbased_');
  if (name.endsWith('always_off')) return { ratio: 0, parent };
  if (name.endsWith('always_on')) return { ratio: 1, parent };
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  if (!(ratio >= 0 && ratio <= 1)) faults.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1');
  return { ratio, parent };
}
