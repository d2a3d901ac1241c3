/**
 * A source of stablecoin prices.
 *
 * `fetchRates` returns fiat units per USDC as plain decimal strings, for those of the wanted codes that it knows. It
 * throws if the source does not answer, or not in its documented format.
 */
export type RateSource = {
  name: string;
  fetchRates(codes: readonly string[], signal: AbortSignal): Promise<Map<string, string>>;
};

const timeoutMs = 5_000;
const maxBytes = 1024 * 1024;

/** The source text of a number: V8 passes it to the reviver, but TypeScript's types do not include it yet. */
type ReviverContext = { source?: string };

/**
 * Fetches a JSON document within 5 s and 1 MiB. Numbers are returned as strings, digit by digit as written, because
 * floating point could change them.
 *
 * @throws Error when the response is not 200, too large, too late, or not JSON
 */
export async function fetchExactJson(url: URL, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    redirect: 'error',
    headers: { accept: 'application/json', 'user-agent': 'quittance' },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url.host} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`${url.host} answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return parseExactJson(Buffer.concat(chunks).toString('utf8'));
}

/** `JSON.parse`, but every number is returned as its source text. */
export function parseExactJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: ReviverContext) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value;
  return JSON.parse(text, keepDigits);
}

/** The value at a path of own keys; undefined if the path does not exist. */
export function dig(value: unknown, ...path: (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}
