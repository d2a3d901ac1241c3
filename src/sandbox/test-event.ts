import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { listMerchants } from '../merchants/read.ts';
import { createByHand } from '../requests/manual.ts';
import type { RequestRow } from '../requests/proof.ts';

/** True where a test wallet can pay a request: in the sandbox's test mode, on its own chain. */
export function hasTestWallet({ config, chains }: Pick<Context, 'config' | 'chains'>, { testMode }: Scope): boolean {
  return config.sandbox && config.chains === null && testMode && chains.test.length > 0;
}

/** The merchant that a test payment goes to: the first one that can be paid. Null when the scope has none. */
export async function findPayableMerchant(ctx: Context, scope: Scope): Promise<string | null> {
  const [merchant] = await listMerchants(ctx, scope, { complete: true, disabled: false, limit: 1, offset: 0 });
  return merchant?.id ?? null;
}

/** 100 minor units: `1.00` of most currencies. */
const testFiatInt = 100;

/**
 * A real request, to be paid by the test wallet, so that its event is like every other.
 *
 * @param key keeps a form that is sent twice from asking twice
 * @throws Refusal rate_unavailable, partner_disabled
 */
export async function createTestRequest(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: string,
): Promise<{ row: RequestRow; replayed: boolean }> {
  const fields = { account_id: accountId, fiat_amount_int: testFiatInt, idempotency_key: key };
  return createByHand(ctx, scope, { ...fields, metadata: { test_event: 'true' } });
}
