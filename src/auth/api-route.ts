import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, HTTPMethods } from 'fastify';
import { type TObject, Type } from 'typebox';
import type { Actor } from '../audit/actions.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { type ErrorCode, type FieldFault, refuse, refuseFields } from '../errors.ts';
import { within } from '../lib/time.ts';
import { type ApiBody, judgeBody, type UnreadBody } from './api-body.ts';
import { clientOf } from './client.ts';
import { FairShares } from './fair-shares.ts';
import {
  type Caller,
  type Facts,
  type GateRule,
  type HashedKey,
  hashKey,
  mustHaveKey,
  noFacts,
  passGate,
} from './gate.ts';
import { KeyOwners } from './key-owners.ts';
import { coerceQuery, compileCheck, compileQueryCheck } from './validate.ts';

/** A call that has passed the gate. */
export type ApiCall<F extends object> = {
  /** Its `x-request-id`. It becomes the id of what the call creates, so one id leads from the call to its event. */
  id: string;
  caller: Caller;
  /** The key, as the audit log names it. */
  actor: Actor;
  /** The data that the route requested in `facts`. */
  facts: F;
  params: Record<string, string>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  /** The keys of objects in the body, in the order written. */
  keyOrder: Map<string, string[]>;
  /** Violations of the contract in body and query. The handler reports them at their place in the order of checks. */
  faults: FieldFault[];
  /** Identifies the key in this process. */
  keyHash: string;
};

/** A call whose key has not been checked yet. An unreadable body is empty. */
export type UncheckedCall = Pick<ApiCall<object>, 'id' | 'body' | 'keyOrder' | 'faults' | 'keyHash'>;

/** The status and body of a response. The body is text, because metadata must keep the order of its keys. */
export type ApiAnswer = { status: number; json: string };

/** What the OpenAPI document says about the endpoint. */
type Described = { operationId: string; summary: string; description?: string; tags: string[]; security: object[] };

export type ApiRoute<F extends object> = GateRule & {
  method: HTTPMethods;
  url: string;
  schema: FastifySchema & Described & { body?: TObject; querystring?: TObject };
  /** The errors that it can return beside those of every call, for the OpenAPI document. */
  errors: ErrorCode[];
  /** Adds the data that the decision needs to the gate's statement. */
  facts?: (sql: Sql, call: UncheckedCall) => Facts;
  handle(call: ApiCall<F>): Promise<ApiAnswer>;
};

type Callers = { shares: FairShares; owners: KeyOwners };
/** All endpoints that use the same connections share one. */
const known = new WeakMap<Context['db'], Callers>();

function callersOf(app: FastifyInstance, ctx: Context): Callers {
  const before = known.get(ctx.db);
  if (before) return before;
  const callers = { shares: new FairShares(), owners: new KeyOwners(ctx) };
  known.set(ctx.db, callers);
  app.addHook('preClose', async () => callers.owners.end());
  return callers;
}

/** Registers an endpoint. The order of checks: the key's form, the body, the gate, the contract, the handler. */
export function addApiRoute<F extends object = object>(app: FastifyInstance, ctx: Context, route: ApiRoute<F>): void {
  const empty = Type.Object({});
  const checkBody = compileCheck(route.schema.body ?? empty);
  const checkQuery = compileQueryCheck(route.schema.querystring ?? empty);
  const takesBody = route.schema.body !== undefined;

  const { shares, owners } = callersOf(app, ctx);
  const answerCall = async (request: FastifyRequest, reply: FastifyReply, named: HashedKey, deadline: number) => {
    const unread = request.body as UnreadBody | undefined;
    if (takesBody && isLarge(unread)) await owners.find(named, deadline);
    const parsed = takesBody ? judgeBody(unread) : noBody;
    const [body, keyOrder] = parsed.fault === null ? [parsed.value, parsed.keyOrder] : [{}, new Map()];
    const query = coerceQuery(route.schema.querystring ?? empty, request.query as Record<string, unknown>);
    const faults = [...(takesBody ? checkBody(body) : []), ...checkQuery(query)];
    const sent = { id: request.id, body, keyOrder, faults };
    const { caller, key, facts } = await passGate<F>(ctx, { named, host: request.headers.host, rule: route }, (sql) =>
      route.facts ? route.facts(sql, { ...sent, keyHash: named.hash }) : noFacts(sql),
    );
    if (parsed.fault !== null) throw refuse(parsed.fault, {}, parsed.message);
    const params = request.params as Record<string, string>;
    const actor: Actor = { kind: 'api_key', keyId: key.id, hint: key.hint, ...clientOf(request) };
    const answer = await route.handle({ ...sent, keyHash: key.hash, caller, actor, facts, params, query });
    if (reply.sent) return reply; // the limit came first: a repeated call gets this answer
    return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.json);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const named = hashKey(ctx, request.raw);
    const deadline = performance.now() + callLimitMs;
    const findPartner = () => owners.find(named, deadline);
    const waiting = { keyHash: named.hash, endpoint: route.endpoint, deadline, findPartner };
    try {
      const work = shares.run(waiting, () => answerCall(request, reply, named, deadline));
      return await within(work, callLimitMs, () => refuse('unavailable'));
    } catch (error) {
      await owners.beforeAnswer(error, request.ip);
      throw error;
    }
  };
  // Refuses a missing or malformed key before the body is received.
  const onRequest = async ({ raw }: FastifyRequest) => void mustHaveKey(raw);
  const { method, url } = route;
  const schema = { ...route.schema, 'x-errors': route.errors };
  app.route({ method, url, schema, config: { auth: 'api-key' }, onRequest, handler });
}

/**
 * No ordinary call has a larger body. Before a larger one is parsed, a query checks that the key exists, because
 * anybody can invent a key with a valid checksum.
 */
const largeBytes = 8 * 1024;

const isLarge = (unread: UnreadBody | undefined) =>
  unread !== undefined && unread !== 'body_too_large' && unread.bytes.length > largeBytes;

/** The longest time of a call. After it, whatever the database does, the client gets `unavailable` and can retry. */
export const callLimitMs = 10_000;

const noBody: ApiBody = { fault: null, value: {}, keyOrder: new Map() };

/** @throws Refusal invalid_request with all faults, if there are any */
export function requireNoFaults(faults: FieldFault[]): void {
  if (faults.length > 0) throw refuseFields(faults);
}

/** The response with one page of a list. `rows` has up to `limit` + 1 rows: the last one shows that there are more. */
export function listAnswer<T>(
  rows: T[],
  limit: number,
  offset: number,
  name: string,
  render: (row: T) => string,
): ApiAnswer {
  const items = rows.slice(0, limit).map(render).join(',');
  const tail = JSON.stringify({ has_more: rows.length > limit, limit, offset }).slice(1);
  return { status: 200, json: `{"ok":true,"${name}":[${items}],${tail}` };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call. A route that does not declare this fails the start. */
    auth?: 'public' | 'api-key' | 'session';
  }
}
