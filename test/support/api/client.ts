import assert from 'node:assert/strict';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { ScopeName } from '../../../src/auth/api-keys.ts';
import type { Database, Scope } from '../../../src/db/connection.ts';
import { startApp } from '../app.ts';
import { makeKey, makeMerchant, makePartner, setRate } from '../fixtures.ts';
import { patienceMs } from '../patience.ts';

/** The fields that tests look at. A field that an answer lacks is undefined at run time. */
export type ApiJson = {
  ok: boolean;
  error: string;
  message: string;
  details: { field: string; message: string }[];
  request: ApiJson;
  requests: ApiJson[];
  merchants: ApiJson[];
  request_id: string;
  account_id: string;
  status: string;
  proof_status: string;
  pay_page_url: string;
  expires_at: string;
  created_at: string;
  amount: { fiat_int: number; fiat_code: string; usdc_micro: string };
  metadata: Record<string, string>;
  idempotent_replay: boolean;
  has_more: boolean;
  limit: number;
  offset: number;
  wallet_address: string | null;
  onboarding_url: string | null;
} & Record<string, unknown>;

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string; json: ApiJson };

export type CallOptions = {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, with `content-type: application/json` by default. */
  raw?: string | Uint8Array;
  /** Null omits a header. */
  headers?: Record<string, string | null>;
  /** Null: no Authorization header. Absent: one of the client's keys. */
  key?: string | null;
};

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/**
 * One HTTP call, without `fetch`, which sends no custom Host header and no body with GET. Checks the rules that hold
 * for every answer.
 */
export function send(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers: Record<string, string> = {};
  if (options.key) headers.authorization = `Bearer ${options.key}`;
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === null) delete headers[name];
    else headers[name] = value;
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      new URL(path, url),
      { method, headers, agent, timeout: patienceMs },
      async (response) => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of response) chunks.push(chunk as Buffer);
          const text = Buffer.concat(chunks).toString('utf8');
          resolve(
            checked(path, { status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) }),
          );
        } catch (error) {
          reject(error);
        }
      },
    );
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error(`${method} ${path} did not answer`)));
    request.end(body);
  });
}

function parse(text: string): ApiJson {
  try {
    return JSON.parse(text) as ApiJson;
  } catch {
    return {} as ApiJson; // pages, and answers to HEAD
  }
}

/** Every answer under /api/ is JSON with `ok`, has an id, and never a rate-limit header. */
function checked(path: string, answer: Answer): Answer {
  for (const name of Object.keys(answer.headers)) assert.doesNotMatch(name, /ratelimit|rate-limit|retry-after/i);
  if (!path.startsWith('/api/') || answer.text === '') return answer;
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
  assert.match(String(answer.headers['x-request-id']), /^\S+$/);
  const id = String(answer.headers['x-request-id']);
  const { request_id, account_id } = answer.json;
  // What a call creates has the call's id; in any other answer the id is a header only.
  const isCreated = answer.status === 201 && [request_id, account_id].includes(id);
  assert.equal(answer.text.includes(id), isCreated, 'the id of a call is that of what it creates, and nothing else');
  assert.equal(answer.json.ok, answer.status < 400, answer.text);
  return answer;
}

/** Asserts an error's status, its exact fields in order, and that its message is written for people. */
export function assertRefused(answer: Answer, status: number, code: string, extra: Record<string, unknown> = {}): void {
  assert.equal(answer.status, status, answer.text);
  const { ok, error, message, ...rest } = answer.json;
  assert.deepEqual({ ok, error }, { ok: false, error: code }, answer.text);
  assert.match(message, /^\S.*\.$/);
  assert.deepEqual(Object.keys(answer.json).slice(0, 3), ['ok', 'error', 'message']);
  assert.deepEqual(rest, extra);
}

/** Asserts an `invalid_request` that names exactly these fields. */
export function assertInvalid(answer: Answer, ...fields: string[]): void {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json.error, 'invalid_request', answer.text);
  assert.deepEqual(Object.keys(answer.json), ['ok', 'error', 'message', 'details']);
  for (const fault of answer.json.details) {
    assert.deepEqual(Object.keys(fault), ['field', 'message']);
    assert.ok(fault.message.length > 0);
  }
  assert.deepEqual([...new Set(answer.json.details.map(({ field }) => field))].sort(), fields.toSorted(), answer.text);
}

/** Calls per key before the client takes a new one, so that rate limits affect only the tests about them. */
const callsPerKey = 25;

/** Calls as one partner in one mode. */
export class ApiClient {
  private readonly db: Database;
  private readonly url: string;
  readonly scope: Scope;
  private key: Promise<string> | null = null;
  private calls = 0;

  constructor(db: Database, url: string, scope: Scope) {
    this.db = db;
    this.url = url;
    this.scope = scope;
  }

  async newKey(scopes?: readonly ScopeName[]): Promise<string> {
    return (await makeKey(this.db, this.scope, scopes)).key;
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const key = options.key === undefined ? await this.currentKey() : options.key;
    return send(this.url, method, path, { ...options, key });
  }

  private currentKey(): Promise<string> {
    if (this.key === null || this.calls++ >= callsPerKey) {
      this.key = this.newKey();
      this.calls = 1;
    }
    return this.key;
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, options);
  create = (body: unknown, options?: CallOptions) => this.call('POST', '/api/v1/requests/create', { body, ...options });
  cancel = (id: string, options?: CallOptions) => this.call('POST', `/api/v1/requests/${id}/cancel`, options);
  read = (id: string, options?: CallOptions) => this.call('GET', `/api/v1/requests/${id}`, options);
  list = (query = '', options?: CallOptions) => this.call('GET', `/api/v1/requests${query}`, options);
  createAccount = (body: unknown, options?: CallOptions) => this.call('POST', '/api/v1/accounts', { body, ...options });
  readAccount = (id: string, options?: CallOptions) => this.call('GET', `/api/v1/accounts/${id}`, options);
  listAccounts = (query = '', options?: CallOptions) => this.call('GET', `/api/v1/accounts${query}`, options);
}

/** The running service with one rate table: EUR 0.92, USD 1, JPY 150, KWD 0.3065. */
export async function startApi() {
  const app = await startApp();
  const rates = { EUR: '0.92', USD: '1', JPY: '150', KWD: '0.3065' };
  for (const [code, rate] of Object.entries(rates)) await setRate(app.db, code, rate);
  /** A partner with a client and, in each mode, a merchant that is ready to be paid. */
  const partner = async (details: Parameters<typeof makePartner>[1] = {}) => {
    const { partner, test, live } = await makePartner(app.db, details);
    const side = async (scope: Scope) => ({
      scope,
      api: new ApiClient(app.db, app.url, scope),
      merchant: await makeMerchant(app.db, scope),
    });
    return { partner, test: await side(test), live: await side(live) };
  };
  return { ...app, partner };
}

export type Api = Awaited<ReturnType<typeof startApi>>;
export type ApiPartner = Awaited<ReturnType<Api['partner']>>;

/** Runs work that must fall within one calendar minute of the database's clock. Repeats it if a new minute began. */
export async function withinOneMinute<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const minute = async () => (await db.sql`select date_trunc('minute', clock_timestamp())::text as at`)[0]?.at;
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = await minute();
    const [outcome] = await Promise.allSettled([work()]);
    if ((await minute()) !== before) continue;
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }
  throw new Error('no work of this test fits into one minute');
}
