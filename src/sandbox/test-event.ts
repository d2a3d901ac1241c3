import type { Actor } from '../audit/actions.ts';
import { RpcError } from '../chain/rpc.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { createManually } from '../requests/create-in-scope.ts';
import type { RequestRow } from '../requests/store.ts';
import { SandboxRefusal, sandboxOutcome } from './outcomes.ts';

/** Whether a test wallet can pay requests: in the sandbox's test mode, on its local chain. */
export function hasTestWallet({ config, chains }: Pick<Context, 'config' | 'chains'>, { testMode }: Scope): boolean {
  return config.sandbox && config.chains === null && testMode && chains.test.length > 0;
}

/** 100 minor units: `1.00` of most currencies. */
const testFiatInt = 100;

/**
 * Creates a real request for the test wallet to pay, so that its event is like any other.
 *
 * @param key the idempotency key, so that a form that is sent twice creates one request
 * @throws Refusal rate_unavailable, partner_disabled
 */
export async function createTestRequest(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
  key: string,
): Promise<{ row: RequestRow; replayed: boolean }> {
  const fields = { account_id: accountId, fiat_amount_int: testFiatInt, idempotency_key: key };
  return createManually(ctx, actor, scope, { ...fields, metadata: { test_event: 'true' } });
}

/**
 * Pays a test request.
 *
 * @returns null once it is paid; `busy` if another test payment was in progress for too long, `chain_down` if its chain
 * does not answer, `test_failed` if it could not be paid for another reason
 */
export async function payTestRequest(
  ctx: Context,
  scope: Scope,
  requestId: string,
): Promise<'busy' | 'chain_down' | 'test_failed' | null> {
  try {
    await sandboxOutcome(ctx, scope, requestId, 'exact');
    return null;
  } catch (error) {
    if (error instanceof RpcError) return 'chain_down';
    if (!(error instanceof SandboxRefusal)) throw error;
    return error.reason === 'busy' ? 'busy' : 'test_failed';
  }
}
