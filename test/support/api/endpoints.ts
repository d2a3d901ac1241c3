import { randomUUID } from 'node:crypto';
import type { ScopeName } from '../../../src/auth/api-keys.ts';
import type { Answer, ApiClient, CallOptions } from './client.ts';

/** The ids that a call may name. */
export type Target = { accountId: string; requestId: string };

/** A valid call of each of the seven endpoints, for tests that apply to all of them. */
export const endpoints: readonly {
  name: string;
  method: 'GET' | 'POST';
  path: (target: Target) => string;
  scope: ScopeName;
  perMinute: number;
  body?: (target: Target) => unknown;
}[] = [
  {
    name: 'POST /requests/create',
    method: 'POST',
    path: () => '/api/v1/requests/create',
    scope: 'requests:write',
    perMinute: 60,
    body: ({ accountId }) => ({ account_id: accountId, fiat_amount_int: 1250 }),
  },
  {
    name: 'GET /requests/<id>',
    method: 'GET',
    path: ({ requestId }) => `/api/v1/requests/${requestId}`,
    scope: 'requests:read',
    perMinute: 60,
  },
  { name: 'GET /requests', method: 'GET', path: () => '/api/v1/requests', scope: 'requests:read', perMinute: 60 },
  {
    name: 'POST /requests/<id>/cancel',
    method: 'POST',
    path: ({ requestId }) => `/api/v1/requests/${requestId}/cancel`,
    scope: 'requests:write',
    perMinute: 60,
  },
  {
    name: 'POST /accounts',
    method: 'POST',
    path: () => '/api/v1/accounts',
    scope: 'accounts:write',
    perMinute: 30,
    body: () => ({ business_name: 'Shell' }),
  },
  { name: 'GET /accounts', method: 'GET', path: () => '/api/v1/accounts', scope: 'accounts:read', perMinute: 60 },
  {
    name: 'GET /accounts/<id>',
    method: 'GET',
    path: ({ accountId }) => `/api/v1/accounts/${accountId}`,
    scope: 'accounts:read',
    perMinute: 60,
  },
];
export type Endpoint = (typeof endpoints)[number];

/** Calls an endpoint. Without a target it names ids that do not exist. */
export function callEndpoint(
  client: ApiClient,
  endpoint: Endpoint,
  options: CallOptions = {},
  target?: Target,
): Promise<Answer> {
  const named = target ?? { accountId: randomUUID(), requestId: randomUUID() };
  const body = endpoint.body ? { body: endpoint.body(named) } : {};
  return client.call(endpoint.method, endpoint.path(named), { ...body, ...options });
}
