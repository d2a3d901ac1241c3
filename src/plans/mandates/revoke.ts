import { bytesToHex } from 'viem';
import { scopeOfRow } from '../../auth/scope.ts';
import { revokeBySignatureCall, revokeCall } from '../../chain/recurring/calls.ts';
import { readMandateStatus } from '../../chain/recurring/state.ts';
import {
  dispatch,
  enqueueCall,
  heldKeys,
  type RelayCall,
  RelayRefusal,
  readRelay,
  relayerAddresses,
  simulate,
} from '../../chain/relay/relay.ts';
import { connectRpc } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable, type Scope } from '../../db/connection.ts';
import { nestedIn } from '../../db/nested.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { retryMs } from '../rules.ts';
import { chainOf } from './chains.ts';
import { toMandate } from './read.ts';
import { lockRevoke, type MandateRow, readRevokeDue, selectRevokeDue, updateRevoke } from './store.ts';

const batch = { ofOne: 10, all: 100 };
const timeoutMs = 5_000;
/** While some wait for a chain that does not answer, those on other chains are handled. */
const sideBySide = 8;
/** How soon a transaction on its way is checked again. */
const followMs = 15_000;

/**
 * Revokes stopped mandates on their chains, so that nobody can charge under them whatever happens to the relayer's key.
 * The service itself stopped using them at once. Alternates between partners; a failure delays no other.
 *
 * @returns how many were handled
 */
export async function revokeStopped(ctx: Context, signal: AbortSignal): Promise<number> {
  const now = ctx.clock.now();
  const due = await selectRevokeDue(ctx.db.sql, now, heldKeys(ctx, now), batch);
  await mapLimited(due, sideBySide, async (one) => {
    if (signal.aborted) return;
    const scope = scopeOfRow(one);
    try {
      await followRevocation(ctx, scope, one.id);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      ctx.log.error({ err: error, mandate_id: one.id }, 'a mandate could not be revoked');
      const mandate = await ctx.db.scoped(scope, (tx) => readRevokeDue(tx, scope, one.id));
      if (mandate) await postpone(ctx, scope, mandate);
    }
  });
  return due.length;
}

async function followRevocation(ctx: Context, scope: Scope, id: string): Promise<void> {
  const mandate = await ctx.db.scoped(scope, (tx) => readRevokeDue(tx, scope, id));
  if (!mandate) return;
  // It can never be charged again.
  if (mandate.ends_at <= ctx.clock.now()) return storeRevocation(ctx, scope, mandate, { dueAt: null });
  const chain = chainOf(ctx, mandate);
  // Other nodes may know the network, and so may this one later.
  if (!chain) return postpone(ctx, scope, mandate);
  if (await isRevoked(chain, mandate)) {
    return storeRevocation(ctx, scope, mandate, { dueAt: null, revokedAt: ctx.clock.now(), failures: 0 });
  }
  const sent = mandate.revoke_relay_id === null ? null : await readRelay(ctx.db.sql, mandate.revoke_relay_id);
  const isUnderWay = sent !== null && !['final', 'reverted', 'lost'].includes(sent.state);
  if (isUnderWay)
    return storeRevocation(ctx, scope, mandate, { dueAt: new Date(ctx.clock.now().getTime() + followMs) });
  // The call ended and the mandate is not revoked. The next call waits; otherwise each would be sent at once and cost a
  // fee.
  if (sent) return postpone(ctx, scope, mandate, { relayId: null });
  const call = callOf(ctx, scope, chain, mandate);
  // It was left to other nodes first. A node without any key waits for one. If it has others, the executor's was
  // removed.
  if (!call && relayerAddresses(ctx).length === 0) return postpone(ctx, scope, mandate);
  if (!call) return storeRevocation(ctx, scope, mandate, { dueAt: null });
  await send(ctx, scope, mandate, call);
}

/** Every endpoint must say so. */
async function isRevoked(chain: ChainConfig, { contract_address: contract, hash }: MandateRow): Promise<boolean> {
  const answers = await Promise.all(
    chain.rpcUrls.map((url) => readMandateStatus(connectRpc(url, timeoutMs), contract, bytesToHex(hash))),
  );
  return answers.every(({ revoked }) => revoked);
}

/** The executor can revoke alone. If its key is gone, any address can with the payer's signature. */
function callOf(ctx: Context, scope: Scope, chain: ChainConfig, mandate: MandateRow): RelayCall | null {
  const addresses = relayerAddresses(ctx);
  const to = mandate.contract_address;
  const { id: subjectId, account_id: accountId } = mandate;
  const same = { scope, chain, to, purpose: 'revoke' as const, subjectId, accountId };
  if (addresses.includes(mandate.executor)) {
    return { ...same, from: mandate.executor, data: revokeCall(toMandate(mandate)) };
  }
  if (!mandate.stop_signature || addresses.length === 0) return null;
  return { ...same, from: null, data: revokeBySignatureCall(toMandate(mandate), bytesToHex(mandate.stop_signature)) };
}

async function send(ctx: Context, scope: Scope, mandate: MandateRow, call: RelayCall): Promise<void> {
  const tried = await simulate(ctx, call);
  if (tried.kind !== 'ok') return postpone(ctx, scope, mandate);
  let relayId: string | null = null;
  try {
    relayId = await ctx.db.transaction(async (tx) => {
      const now = ctx.clock.now();
      const free = await nestedIn(tx, ctx.db).scoped(scope, async (inner) => {
        const locked = await lockRevoke(inner, scope, mandate.id, now);
        return locked?.revoke_relay_id === mandate.revoke_relay_id;
      });
      if (!free) return null; // another node is handling it
      const id = await enqueueCall(ctx, tx, call, tried.gas);
      const dueAt = new Date(now.getTime() + followMs);
      const failures = mandate.revoke_failures;
      await updateRevoke(tx, scope, mandate, { relayId: id, failures, dueAt, revokedAt: null });
      return id;
    });
  } catch (error) {
    if (!(error instanceof RelayRefusal)) throw error;
    return postpone(ctx, scope, mandate);
  }
  if (relayId !== null) await dispatch(ctx, relayId);
}

function postpone(ctx: Context, scope: Scope, mandate: MandateRow, next: { relayId?: null } = {}): Promise<void> {
  const failures = mandate.revoke_failures + 1;
  const dueAt = new Date(ctx.clock.now().getTime() + retryMs(failures));
  return storeRevocation(ctx, scope, mandate, { ...next, dueAt, failures });
}

type Revocation = { dueAt: Date | null; revokedAt?: Date; failures?: number; relayId?: null };

function storeRevocation(ctx: Context, scope: Scope, mandate: MandateRow, next: Revocation): Promise<void> {
  const { revoke_relay_id: current, revoke_failures: before } = mandate;
  const { dueAt, revokedAt = null, failures = before, relayId = current } = next;
  return ctx.db.scoped(scope, (tx) => updateRevoke(tx, scope, mandate, { relayId, failures, dueAt, revokedAt }));
}
