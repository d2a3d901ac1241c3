import type { Database } from './connection.ts';

/** Something that pages show has changed. */
export type Change =
  | { kind: 'request'; requestId: string; accountId: string; partnerId: string; testMode: boolean }
  | { kind: 'merchant' | 'plan'; accountId: string; partnerId: string; testMode: boolean }
  | { kind: 'chain'; chainId: number }
  /** Something was written into the audit log of a partner, or into that of what concerns none. */
  | { kind: 'log'; partnerId: string }
  /** Rates were fetched. */
  | { kind: 'rates' }
  /** A session was ended. */
  | { kind: 'session'; sessionId: string }
  /** Somebody who signs in has another role, or was switched off. */
  | { kind: 'user'; userId: string }
  /** Work was queued for a loop. */
  | { kind: Queue }
  /** The connection was lost for a while: anything may have changed. */
  | { kind: 'anything' };

const queues = ['transfers', 'deliveries', 'mails'] as const;
type Queue = (typeof queues)[number];

/** Told by triggers: 0003, 0014, 0015, 0016, 0019, 0022 and 0033 of `migrations/`. */
const channel = 'changes';

/**
 * Hears of changes made by any process, from commit on.
 *
 * @param complain called once when they cannot be heard; until they are, it is tried again
 * @returns what ends it
 */
export function hearChanges(
  db: Database,
  hear: (change: Change) => void,
  complain: (error: unknown) => void,
): () => void {
  return db.sql.listen(channel, {
    hear: (payload) => {
      const change = readChange(payload);
      if (change) hear(change);
    },
    begin: () => hear({ kind: 'anything' }),
    complain,
  });
}

function readChange(payload: string): Change | null {
  const [kind, ...parts] = payload.split(' ');
  if (kind === 'chain') return { kind, chainId: Number(parts[0]) };
  if (kind === 'log') return { kind, partnerId: String(parts[0]) };
  if (kind === 'rates') return { kind };
  if (kind === 'session') return { kind, sessionId: String(parts[0]) };
  if (kind === 'user') return { kind, userId: String(parts[0]) };
  const queue = queues.find((name) => name === kind);
  if (queue) return { kind: queue };
  const isOfMerchant = kind === 'merchant' || kind === 'plan';
  const [requestId, accountId, partnerId, testMode] = isOfMerchant ? [null, ...parts] : parts;
  if (isOfMerchant && accountId && partnerId) return { kind, accountId, partnerId, testMode: testMode === 't' };
  if (kind !== 'request' || !requestId || !accountId || !partnerId) return null;
  return { kind, requestId, accountId, partnerId, testMode: testMode === 't' };
}
