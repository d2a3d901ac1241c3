import type { Hex } from '../../chain/rpc.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { type AuthorizationRow, selectUnread } from './store.ts';

/** An authorization that was submitted for a request, and whose transfer is not matched yet. */
export type AuthorizationProgress = {
  chainId: number;
  authorizer: string;
  usdcMicro: bigint;
  /** `sent`: it is being sent, or was mined and is about to be read. `failed`: it moved nothing. */
  state: 'sent' | 'failed';
  /** The hash of the newest transaction that executes it; null before it is signed. */
  hash: Hex | null;
  submittedAt: Date;
  /** With `failed`: until this time somebody else could still execute it, if the cause goes away. */
  validBefore: Date;
};

/** A block that was made in time may be read this much later. */
const readLateMs = 2 * minuteMs;

/** The authorizations that were submitted for a request and are undecided or failed, newest first. */
export async function readAuthorizations(
  ctx: Context,
  scope: Scope,
  requestId: string,
): Promise<AuthorizationProgress[]> {
  const rows = await ctx.db.scoped(scope, (tx) => selectUnread(tx, scope, requestId));
  const now = ctx.clock.now();
  return rows.flatMap((row) => (row.relay_state === null ? [] : [describe(row, now)]));
}

type Call = Pick<AuthorizationRow, 'relay_state' | 'succeeded' | 'valid_before' | 'read_until'>;

/**
 * Whether the call of an authorization will not execute it: it failed in its block, or can no longer be mined. A token
 * does not execute an expired authorization. But a call that was sent may be in a block that is not read yet, for
 * example because no endpoint answers. Until that is known, another payment could be a second one. If a reorganisation
 * executes the authorization after all, one that was signed again under the same nonce cannot be executed.
 */
export function hasFailed({ relay_state, succeeded, valid_before, read_until }: Call, now: Date): boolean {
  if (relay_state === 'lost' || succeeded === false) return true;
  if (relay_state === 'final' || succeeded) return false;
  if (now.getTime() <= valid_before.getTime() + readLateMs) return false;
  const wasSent = relay_state === 'sent' || relay_state === 'mined';
  return !wasSent || (read_until !== null && read_until >= valid_before);
}

function describe(row: AuthorizationRow, now: Date): AuthorizationProgress {
  return {
    chainId: Number(row.chain_id),
    authorizer: row.authorizer,
    usdcMicro: BigInt(row.value),
    state: hasFailed(row, now) ? 'failed' : 'sent',
    hash: row.hash,
    submittedAt: row.handed_in_at,
    validBefore: row.valid_before,
  };
}
