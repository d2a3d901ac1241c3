import type { Hex } from '../../chain/rpc.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { type SubmittedAuthorizationRow, selectSubmittedAuthorization } from './outcome-store.ts';
import { hasFailed } from './progress.ts';
import type { AuthorizationKey } from './store.ts';

/** The outcome of one authorization that was submitted for a request. */
export type AuthorizationOutcome = {
  /** `mined`: its money has moved. `failed`: it moved nothing, and is not being sent. */
  state: 'sent' | 'mined' | 'failed';
  /**
   * The hash of the transaction that moved the money, whoever sent it; otherwise of the relayer's newest one; null
   * before that.
   */
  hash: Hex | null;
  valueMicro: bigint;
};

/** The outcome of an authorization; null if it was never submitted for this request. */
export async function readAuthorizationOutcome(
  ctx: Context,
  scope: Scope,
  requestId: string,
  key: AuthorizationKey,
): Promise<AuthorizationOutcome | null> {
  const row = await ctx.db.scoped(scope, (tx) => selectSubmittedAuthorization(tx, scope, requestId, key));
  return row && outcomeOf(row, ctx.clock.now());
}

/** Judges what is stored. A failed call of ours means nothing if somebody else executed the authorization. */
export function outcomeOf(row: SubmittedAuthorizationRow, now: Date): AuthorizationOutcome {
  const valueMicro = BigInt(row.value);
  if (row.transfer_hash) return { state: 'mined', hash: row.transfer_hash, valueMicro };
  return { state: stateOf(row, now), hash: row.hash, valueMicro };
}

function stateOf(row: SubmittedAuthorizationRow, now: Date): AuthorizationOutcome['state'] {
  if (row.relay_state === null || hasFailed(row, now)) return 'failed';
  return row.relay_state === 'final' || (row.relay_state === 'mined' && row.succeeded) ? 'mined' : 'sent';
}
