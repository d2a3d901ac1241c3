import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { addApiRoute, listAnswer, requireNoFaults } from '../auth/api-route.ts';
import type { Context } from '../context.ts';
import { refuseMerchant } from '../errors.ts';
import { Uuid } from '../lib/contract.ts';
import { readMerchant } from '../merchants/read.ts';
import { Assumptions, type GateFacts } from './assumptions.ts';
import { cancelRequest } from './cancel.ts';
import { CreateRequest, RequestList, RequestObject, RequestQuery } from './contract.ts';
import { readListQuery } from './lists/list-query.ts';
import { listRequests, readRequest } from './read.ts';
import { renderRequest } from './render.ts';

const params = Type.Object({ request_id: Uuid });
const tags = ['Payment requests'];
const security = [{ apiKey: [] }];

/** The four endpoints of payment requests. */
export function requestRoutes(app: FastifyInstance, ctx: Context): void {
  createRoute(app, ctx);
  readRoute(app, ctx);
  listRoute(app, ctx);
  cancelRoute(app, ctx);
}

function createRoute(app: FastifyInstance, ctx: Context): void {
  const assumptions = new Assumptions(ctx);
  addApiRoute<GateFacts>(app, ctx, {
    method: 'POST',
    url: '/api/v1/requests/create',
    endpoint: 'requests.create',
    perMinute: 60,
    scope: 'requests:write',
    errors: [
      'invalid_json',
      'invalid_request',
      'invalid_idempotency_key',
      'customer_name_required',
      'currency_mismatch',
      'expiry_not_allowed',
      'merchant_disabled',
      'merchant_mode_mismatch',
      'merchant_onboarding_incomplete',
      'body_too_large',
      'unsupported_media_type',
      'rate_unavailable',
    ],
    schema: {
      operationId: 'createRequest',
      tags,
      security,
      summary: 'Create a payment request',
      description:
        'Requests an amount in the merchant’s currency. With an idempotency_key, a repeated call returns the same ' +
        'request (200, idempotent_replay: true) whatever its other fields are, including customer details.',
      body: CreateRequest,
      response: { 201: RequestObject, 200: RequestObject },
    },
    facts: (sql, call) => assumptions.facts(ctx, sql, call),
    handle: async (call) => {
      const { row, replayed } = await assumptions.create(ctx, call);
      return { status: replayed ? 200 : 201, json: renderRequest(ctx, row, replayed) };
    },
  });
}

function readRoute(app: FastifyInstance, ctx: Context): void {
  addApiRoute(app, ctx, {
    method: 'GET',
    url: '/api/v1/requests/:request_id',
    endpoint: 'requests.get',
    perMinute: 60,
    scope: 'requests:read',
    errors: [],
    schema: {
      operationId: 'getRequest',
      tags,
      security,
      summary: 'Read a payment request',
      description: 'In its current state. To follow several requests, receive events or read the list instead.',
      params,
      response: { 200: RequestObject },
    },
    handle: async ({ caller, params: { request_id: id = '' } }) => {
      return { status: 200, json: renderRequest(ctx, await readRequest(ctx.db, caller.scope, id)) };
    },
  });
}

function listRoute(app: FastifyInstance, ctx: Context): void {
  addApiRoute(app, ctx, {
    method: 'GET',
    url: '/api/v1/requests',
    endpoint: 'requests.list',
    perMinute: 60,
    scope: 'requests:read',
    errors: ['invalid_request'],
    schema: {
      operationId: 'listRequests',
      tags,
      security,
      summary: 'List payment requests',
      description:
        'Oldest first. To follow new requests, pass the last created_at you saw as since. No request is ever missed, ' +
        'however many are created meanwhile. Poll this list rather than each request.',
      querystring: RequestQuery,
      response: { 200: RequestList },
    },
    handle: async ({ caller, query, faults }) => {
      const read = readListQuery(query);
      requireNoFaults([...faults, ...read.faults]);
      const { filter } = read;
      if (filter.accountId && !(await readMerchant(ctx, caller.scope, filter.accountId))) throw refuseMerchant();
      const rows = await listRequests(ctx.db, caller.scope, filter);
      return listAnswer(rows, filter.limit, filter.offset, 'requests', (row) => renderRequest(ctx, row));
    },
  });
}

function cancelRoute(app: FastifyInstance, ctx: Context): void {
  addApiRoute(app, ctx, {
    method: 'POST',
    url: '/api/v1/requests/:request_id/cancel',
    endpoint: 'requests.cancel',
    perMinute: 60,
    scope: 'requests:write',
    errors: ['cannot_cancel'],
    schema: {
      operationId: 'cancelRequest',
      tags,
      security,
      summary: 'Cancel a payment request',
      description:
        'Possible only before the pay page is opened or a payment is seen, and not while an automatic charge is on its way. Otherwise 409 cannot_cancel with the request.',
      params,
      response: { 200: RequestObject },
    },
    handle: async ({ caller: { scope }, actor, params: { request_id = '' } }) => {
      const row = await cancelRequest(ctx, actor, scope, request_id);
      return { status: 200, json: renderRequest(ctx, row) };
    },
  });
}
