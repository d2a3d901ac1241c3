/** How operators read `/metrics` and the details of `/readyz`: at a separate listener, with a token, or both. */
export type MetricsConfig = {
  host: string;
  /** Null: no separate listener. */
  port: number | null;
  /** Sent as a bearer token: never log it. Null: everybody who can reach the separate listener may read. */
  token: string | null;
};

const tokenPattern = /^[\x21-\x7e]{24,200}$/;

/** Reads `METRICS_HOST`, `METRICS_PORT` and `METRICS_TOKEN`. With none of them, nobody can read metrics. */
export function readMetrics(env: NodeJS.ProcessEnv, servicePort: number, faults: string[]): MetricsConfig {
  const port = env.METRICS_PORT ? Number(env.METRICS_PORT) : null;
  if (port !== null && (!Number.isInteger(port) || port < 1 || port > 65_535 || port === servicePort)) {
    faults.push('METRICS_PORT must be a whole number from 1 to 65535, and different from PORT');
  }
  if (env.METRICS_HOST && port === null) faults.push('METRICS_HOST needs METRICS_PORT');
  const token = env.METRICS_TOKEN || null;
  if (token !== null && !tokenPattern.test(token)) {
    faults.push('METRICS_TOKEN must be 24 to 200 printable characters without spaces');
  }
  return { host: env.METRICS_HOST || '127.0.0.1', port, token };
}
