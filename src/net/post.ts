import { constants } from 'node:crypto';
import { isIP, type LookupFunction } from 'node:net';
import { DEFAULT_CIPHERS } from 'node:tls';
import { buildConnector } from 'undici';
import { makeStorable } from '../lib/text/storable.ts';
import { type Clients, makeClients } from './clients.ts';
import { bareHost, mayConnect, type OutboundPolicy } from './guard.ts';
import { createResolve, type Resolve } from './resolve.ts';

export type PostFailure = 'timeout' | 'dns' | 'refused_address' | 'tls' | 'connection' | 'invalid_response';

/** The outcome of a POST. A redirect is an ordinary response. `retryAfter` is the header's text. */
export type PostOutcome = { durationMs: number } & (
  | { statusCode: number; retryAfter: string | null; responseHeaders: Record<string, string>; responseBody: string }
  | { error: PostFailure }
);

export type Poster = {
  /**
   * Sends one POST to a valid URL. Network failures are returned, not thrown. `timeoutMs` covers everything until the
   * status arrives, including DNS and TLS. Once there is a status, a failure while reading the body is ignored.
   */
  post(url: string, headers: Record<string, string>, body: string): Promise<PostOutcome>;
  /** Closes all connections at once, without waiting for POSTs in progress. */
  close(): Promise<void>;
};

export type PosterOptions = { resolve?: Resolve; timeoutMs?: number };

const defaultTimeoutMs = 8000;
/** How long to wait for the body after the status. Its first bytes are logged. */
const bodyTimeoutMs = 1000;
const maxBodyBytes = 4096;
const maxHeaderCharacters = 4096;
/** The maximum number of interim responses (1xx). A receiver could send them endlessly and keep the process busy. */
const maxInterim = 20;
/**
 * How many addresses a name may have. Large services have a dozen. A stranger's name server could send thousands, and
 * checking those for each of many POSTs would keep the process from all other work.
 */
const maxAddresses = 50;
/** How many other connections are tried after reused ones that the receiver has closed. */
const maxStale = 3;

/**
 * A receiver can make TLS expensive for this process: it chooses the numbers of a Diffie-Hellman exchange without
 * curves, of which one with 8,192 bits takes a quarter of a second, and it can begin one handshake after the other.
 */
const cheapTls = { ciphers: `${DEFAULT_CIPHERS}:!DHE`, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/** When the connection that failed with this error was opened. If that was before the POST, it was a reused one. */
const connectedAt = new WeakMap<Error, number>();

class GuardError extends Error {
  readonly kind: PostFailure;
  constructor(kind: PostFailure, message: string) {
    super(message);
    this.kind = kind;
  }
}

/**
 * A client for URLs chosen by strangers. When a connection is opened, every address that the resolver returns is
 * checked, and so is an IP literal. One forbidden address refuses the connection. The client follows no redirects and
 * ignores proxies in the environment. Connections are reused; the caller limits their number.
 */
export function createPoster(policy: OutboundPolicy, options: PosterOptions = {}): Poster {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const resolve = options.resolve ?? createResolve(policy.allowCidrs.length > 0);
  const clients = makeClients(guardedConnector(policy, resolve, timeoutMs));
  return {
    post: async (url, headers, body) => {
      const startedAt = performance.now();
      const post = { ...partsOf(url), headers, body, startedAt, deadline: startedAt + timeoutMs };
      let outcome = await dispatch(clients, post);
      // The receiver may close a reused connection at any time. That does not mean that it is down, so try another one.
      for (let stale = 0; 'staleConnection' in outcome && stale < maxStale; stale++) {
        outcome = await dispatch(clients, post);
      }
      return 'staleConnection' in outcome ? { durationMs: outcome.durationMs, error: 'connection' } : outcome;
    },
    close: async () => clients.close(),
  };
}

function guardedConnector(policy: OutboundPolicy, resolve: Resolve, timeoutMs: number): buildConnector.connector {
  const connectorFor = (protocol: string) =>
    buildConnector({
      ...cheapTls,
      timeout: timeoutMs,
      lookup: guardedLookup(policy, protocol, resolve),
    } as buildConnector.BuildOptions);
  const [plain, secure] = [connectorFor('http:'), connectorFor('https:')];
  return (options, done) => {
    const host = bareHost(options.hostname);
    const callback: buildConnector.Callback = (...result) => {
      const [, socket] = result;
      const at = performance.now();
      socket?.on('error', (error) => connectedAt.set(error, at));
      done(...result);
    };
    // Node does not call `lookup` for an IP literal, so it is checked here.
    if (isIP(host) && !mayConnect(policy, options.protocol, host)) {
      queueMicrotask(() => callback(new GuardError('refused_address', host), null));
    } else if (options.protocol === 'https:') secure(options, callback);
    else plain(options, callback);
  };
}

function guardedLookup(policy: OutboundPolicy, protocol: string, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    const fail = (kind: PostFailure, reason: string) => callback(new GuardError(kind, `${hostname}: ${reason}`), []);
    resolve(hostname).then(
      (answers) => {
        if (answers.length > maxAddresses) return fail('dns', `${answers.length} addresses`);
        const addresses = answers.map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        if (!first) fail('dns', 'no address');
        else if (!answers.every((address) => mayConnect(policy, protocol, address)))
          fail('refused_address', `${answers}`);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => fail('dns', error.message),
    );
  };
}

type Parts = { origin: string; path: string };

/** Caches parsed URLs, because the same few come again and again. Addresses are still checked at each connection. */
const knownParts = new Map<string, Parts>();
const maxKnown = 10_000;

function partsOf(url: string): Parts {
  const known = knownParts.get(url);
  if (known) return known;
  const { origin, pathname, search } = new URL(url);
  const parts = { origin, path: pathname + search };
  if (knownParts.size >= maxKnown) knownParts.clear();
  knownParts.set(url, parts);
  return parts;
}

/** A POST, and the times by `performance.now()` at which it began and must have a status. */
type Post = Parts & { headers: Record<string, string>; body: string; startedAt: number; deadline: number };
/** The reused connection was closed before there was a status. */
type Stale = { durationMs: number; staleConnection: true };
type Answered = Extract<PostOutcome, { statusCode: number }>;

/** Sends a POST over one connection, which is kept only if the response was read to its end. */
function dispatch(clients: Clients, { origin, path, headers, body, startedAt, deadline }: Post) {
  const kept = clients.take(origin);
  return new Promise<PostOutcome | Stale>((settle) => {
    const collected = new CollectedBody();
    let status: Omit<Answered, 'responseBody'> | undefined;
    let interim = 0;
    let ended = false;
    const dispatchedAt = performance.now();
    const durationMs = () => Math.round(performance.now() - startedAt);
    const fail = (error: PostFailure) => end({ error, durationMs: durationMs() });
    let timer = setTimeout(() => fail('timeout'), Math.max(0, deadline - dispatchedAt));

    const end = (outcome: PostOutcome | Stale, isRead = false) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      if (isRead) clients.giveBack(kept);
      else clients.drop(kept);
      settle(outcome);
    };
    const endWithStatus = (isRead: boolean) => {
      if (status) end({ ...status, responseBody: collected.text() }, isRead);
    };

    kept.client.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          if (statusCode < 200 && ++interim > maxInterim) fail('invalid_response');
          if (ended || statusCode < 200) return;
          status = { statusCode, ...loggedHeaders(responseHeaders), durationMs: durationMs() };
          clearTimeout(timer);
          // Most bodies arrive together with the status. Only the others need a timer.
          queueMicrotask(() => {
            if (!ended) timer = setTimeout(() => endWithStatus(false), bodyTimeoutMs);
          });
        },
        onResponseData: (_controller, chunk) => {
          collected.add(chunk);
          if (collected.isFull) endWithStatus(false);
        },
        onResponseEnd: () => endWithStatus(true),
        onResponseError: (_controller, error) => {
          const isStale = !isUnread(error) && (connectedAt.get(error) ?? Infinity) < dispatchedAt;
          if (status) endWithStatus(false);
          else if (isStale) end({ staleConnection: true, durationMs: durationMs() });
          else fail(kindOf(error));
        },
      },
    );
  });
}

const invalidAnswer = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE|INFO))/;
const certificate =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|INVALID_CA|PATH_LENGTH|HOSTNAME_MISMATCH)/;

/** Whether the client closed the connection at an answer that it does not read, such as 100 Continue. */
const isUnread = (error: Error & { code?: unknown }): boolean =>
  error.code === 'UND_ERR_SOCKET' && error.message === 'bad response';

function kindOf(error: Error & { code?: unknown }): PostFailure {
  if (error instanceof GuardError) return error.kind;
  const code = String(error.code ?? '');
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout';
  if (certificate.test(code)) return 'tls';
  return isUnread(error) || error.name === 'HTTPParserError' || invalidAnswer.test(code)
    ? 'invalid_response'
    : 'connection';
}

type ResponseHeaders = Record<string, string | string[] | undefined>;

/** The response headers for the log, in order, up to a total length; and `Retry-After`. */
function loggedHeaders(headers: ResponseHeaders): Pick<Answered, 'retryAfter' | 'responseHeaders'> {
  const retryAfter = headers['retry-after'];
  const responseHeaders: Record<string, string> = {};
  let left = maxHeaderCharacters;
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? '';
    const text = makeStorable(typeof value === 'string' ? value : value.join(', '));
    left -= name.length + text.length;
    if (left >= 0) responseHeaders[name] = text;
  }
  return { retryAfter: typeof retryAfter === 'string' ? retryAfter : null, responseHeaders };
}

/** The beginning of a response's body, for the log; most are empty or one chunk. */
class CollectedBody {
  readonly #chunks: Buffer[] = [];
  #received = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(0, Math.max(0, maxBodyBytes - this.#received)));
    this.#received += chunk.length;
  }

  /** Whether the body is longer than what is logged. */
  get isFull(): boolean {
    return this.#received > maxBodyBytes;
  }

  text(): string {
    const [first] = this.#chunks;
    if (!first) return '';
    return makeStorable((this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)).toString('utf8'));
  }
}
