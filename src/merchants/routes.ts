import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { addApiRoute, listAnswer, requireNoFaults } from '../auth/api-route.ts';
import type { Context } from '../context.ts';
import { refuseMerchant } from '../errors.ts';
import { Uuid } from '../lib/contract.ts';
import { CreateMerchant, MerchantList, MerchantObject, MerchantQuery } from './contract.ts';
import { createMerchant } from './create.ts';
import { type CreateMerchantFacts, merchantCreateFacts } from './create-facts-store.ts';
import { listMerchants, readMerchant } from './read.ts';
import { renderMerchant } from './render.ts';

const tags = ['Merchants'];
const security = [{ apiKey: [] }];

/** The API endpoints of merchants. */
export function merchantRoutes(app: FastifyInstance, ctx: Context): void {
  addApiRoute<CreateMerchantFacts>(app, ctx, {
    method: 'POST',
    url: '/api/v1/accounts',
    endpoint: 'accounts.create',
    perMinute: 30,
    scope: 'accounts:write',
    errors: ['invalid_json', 'invalid_request', 'wallet_address_conflict', 'body_too_large', 'unsupported_media_type'],
    schema: {
      operationId: 'createMerchant',
      tags,
      security,
      summary: 'Create a merchant',
      description:
        'Creates a shell. Its user connects a wallet and accepts the terms at onboarding_url. If one of your merchants in ' +
        'this mode already has the wallet_address, that merchant is returned (200, idempotent_replay: true) and the other ' +
        'fields are ignored. A code sent to email is asked for during onboarding, and email cannot be changed: if it is ' +
        'wrong, create another merchant. If you named a wallet_address, first restart the onboarding of the wrong one in ' +
        'the portal, which releases it.',
      body: CreateMerchant,
      response: { 201: MerchantObject, 200: MerchantObject },
    },
    facts: (sql, { body }) => ({ columns: merchantCreateFacts(sql, body) }),
    handle: async (call) => {
      const { row, replayed } = await createMerchant(ctx, call);
      return { status: replayed ? 200 : 201, json: renderMerchant(ctx, row, replayed) };
    },
  });

  addApiRoute(app, ctx, {
    method: 'GET',
    url: '/api/v1/accounts/:account_id',
    endpoint: 'accounts.get',
    perMinute: 60,
    scope: 'accounts:read',
    errors: [],
    schema: {
      operationId: 'getMerchant',
      tags,
      security,
      summary: 'Read a merchant',
      description: 'While onboarding is incomplete, each read returns a fresh onboarding_url, valid for seven days.',
      params: Type.Object({ account_id: Uuid }),
      response: { 200: MerchantObject },
    },
    handle: async ({ caller, params: { account_id: id = '' } }) => {
      const row = await readMerchant(ctx, caller.scope, id);
      if (!row) throw refuseMerchant();
      return { status: 200, json: renderMerchant(ctx, row) };
    },
  });

  addApiRoute(app, ctx, {
    method: 'GET',
    url: '/api/v1/accounts',
    endpoint: 'accounts.list',
    perMinute: 60,
    scope: 'accounts:read',
    errors: ['invalid_request'],
    schema: {
      operationId: 'listMerchants',
      tags,
      security,
      summary: 'List merchants',
      description: 'Oldest first.',
      querystring: MerchantQuery,
      response: { 200: MerchantList },
    },
    handle: async ({ caller, query, faults }) => {
      requireNoFaults(faults);
      const limit = (query.limit as number | undefined) ?? 50;
      const offset = (query.offset as number | undefined) ?? 0;
      const status = query.onboarding_status;
      const complete = status === undefined ? undefined : status === 'complete';
      const disabled = query.disabled as boolean | undefined;
      const rows = await listMerchants(ctx, caller.scope, { complete, disabled, limit, offset });
      return listAnswer(rows, limit, offset, 'merchants', (row) => renderMerchant(ctx, row));
    },
  });
}
