import type { Database } from './connection.ts';

/** A change of something that pages show or loops process. */
export type Change =
  | { kind: 'request'; requestId: string; accountId: string; partnerId: string; testMode: boolean }
  | { kind: 'merchant' | 'plan'; accountId: string; partnerId: string; testMode: boolean }
  /** Several webhook events of this partner and mode were attempted. */
  | { kind: 'attempts'; partnerId: string; testMode: boolean }
  /** The webhook endpoint of this partner and mode has another URL or secret, or was disabled. */
  | { kind: 'endpoint'; partnerId: string; testMode: boolean }
  | { kind: 'chain'; chainId: number }
  /** An entry was written to a partner's audit log, or to the audit log of the whole service. */
  | { kind: 'log'; partnerId: string }
  /** Rates were fetched. */
  | { kind: 'rates' }
  /** A session was ended. */
  | { kind: 'session'; sessionId: string }
  /** A user's role changed, or a user was disabled. */
  | { kind: 'user'; userId: string }
  /** Work was queued for a loop. */
  | { kind: Queue }
  /** The connection was lost for a while, so anything may have changed. */
  | { kind: 'anything' };

const queues = ['transfers', 'deliveries', 'mails', 'charges'] as const;
type Queue = (typeof queues)[number];

/** Sent by triggers in the migrations 0003, 0014, 0015, 0016, 0019, 0022, 0033, 0066 and 0103, and by `notifyQueue`. */
const channel = 'changes';

/**
 * Tells every process that work was queued. Call it after the commit of that work: transactions that notify wait for
 * each other at commit, so one notification announces the work of many transactions.
 */
export async function notifyQueue({ sql }: Database, queue: Queue): Promise<void> {
  await sql`select pg_notify(${channel}, ${queue})`;
}

/**
 * Listens for changes made by any process, from their commit on.
 *
 * @param onError called once per outage; listening is retried until it works
 * @returns a function that stops listening
 */
export function listenForChanges(
  db: Database,
  onChange: (change: Change) => void,
  onError: (error: unknown) => void,
): () => void {
  return db.sql.listen(channel, {
    onMessage: (payload) => {
      const change = readChange(payload);
      if (change) onChange(change);
    },
    onListening: () => onChange({ kind: 'anything' }),
    onError,
  });
}

function readChange(payload: string): Change | null {
  const [kind, ...parts] = payload.split(' ');
  if (kind === 'chain') return { kind, chainId: Number(parts[0]) };
  if (kind === 'attempts' || kind === 'endpoint')
    return { kind, partnerId: String(parts[0]), testMode: parts[1] === 't' };
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
