import { type Change, listenForChanges } from './changes.ts';
import type { Database, Scope } from './connection.ts';

/** A page that shows one partner in one mode, or one merchant or request of it. */
export type Watcher = {
  scope: Scope;
  accountId?: string;
  requestId?: string;
  /** The viewer: the watcher is also woken when this session ends or this user's role changes. */
  sessionId?: string;
  userId?: string;
  /** Whether it is also woken by each new block that was read. */
  chains: boolean;
  wake(): void;
};

/**
 * Creating a request sends no notification, so the partners' clocks and the merchants' newest requests are polled, once
 * for all watchers.
 */
const pollEveryMs = 1_000;

type Watch = { watchers: Set<Watcher>; begin(watcher: Watcher): void; end(): Promise<void> };
const watches = new WeakMap<Database, Watch>();

/**
 * Wakes a watcher whenever any process changes something that it shows. The first watcher of a scope may also be woken
 * once at the beginning, because earlier changes were not noticed. A process listens once and polls once a second for
 * all its watchers, and only while there are any.
 *
 * @returns a function that stops watching
 */
export function watchScope(db: Database, watcher: Watcher, onError: (error: unknown) => void): () => void {
  const watch = watches.get(db) ?? beginWatch(db, onError);
  watches.set(db, watch);
  watch.begin(watcher);
  return () => {
    watch.watchers.delete(watcher);
    if (watch.watchers.size > 0 || watches.get(db) !== watch) return;
    watches.delete(db);
    watch.end().catch(onError);
  };
}

function beginWatch(db: Database, onError: (error: unknown) => void): Watch {
  const watchers = new Set<Watcher>();
  /** Null: not known yet. */
  const clocks = new Map<string, number | null>();
  const onChange = (change: Change) => {
    for (const watcher of watchers) if (isConcerned(watcher, change)) watcher.wake();
  };
  const ask = async (those: Iterable<Watcher>) => {
    const moved = await movedClocks(db, those, clocks);
    for (const watcher of watchers) if (moved.has(clockOf(watcher))) watcher.wake();
  };
  let asking = false;
  const askAll = async () => {
    if (asking) return;
    asking = true;
    try {
      const watched = new Set([...watchers].map(clockOf));
      for (const key of clocks.keys()) if (!watched.has(key)) clocks.delete(key);
      await ask(watchers);
    } catch (error) {
      onError(error);
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(askAll, pollEveryMs);
  // If listening fails, polling still wakes watchers within a second of a new request.
  const stopListening = listenForChanges(db, onChange, onError);
  return {
    watchers,
    begin: (watcher) => {
      watchers.add(watcher);
      const clock = clockOf(watcher);
      if (clock === '' || clocks.has(clock)) return;
      clocks.set(clock, null); // so that another watcher of it does not query it too
      ask([watcher]).catch(onError); // the next poll queries it again
    },
    end: async () => {
      clearInterval(timer);
      stopListening();
    },
  };
}

const keyOf = ({ partnerId, testMode }: Scope) => `${partnerId} ${testMode}`;

function isConcerned(watcher: Watcher, change: Change): boolean {
  const { scope, accountId, requestId, chains } = watcher;
  if (change.kind === 'anything') return true;
  if (change.kind === 'chain') return chains;
  if (change.kind === 'log') {
    return change.partnerId === scope.partnerId && accountId === undefined && requestId === undefined;
  }
  if (change.kind === 'session') return change.sessionId === watcher.sessionId;
  if (change.kind === 'user') return change.userId === watcher.userId;
  if (!('partnerId' in change)) return false; // for operators and loops
  if (change.partnerId !== scope.partnerId || change.testMode !== scope.testMode) return false;
  // Merchants see no deliveries.
  if (change.kind === 'attempts' || change.kind === 'endpoint') return accountId === undefined;
  if (requestId !== undefined) return change.kind === 'request' && change.requestId === requestId;
  if (change.kind === 'plan') return accountId === change.accountId; // only merchants see plans
  return accountId === undefined || change.accountId === accountId;
}

/** The key of what is polled: a scope's clock, or a merchant's newest request. Empty for a page of one request. */
function clockOf({ scope, accountId, requestId }: Watcher): string {
  if (requestId !== undefined) return '';
  return accountId === undefined ? keyOf(scope) : `${keyOf(scope)} ${accountId}`;
}

type Clock = { partner_id: string; test_mode: boolean; account_id: string | null };

/** The clocks of these watchers that have moved since the last poll, or were never polled. */
async function movedClocks(
  db: Database,
  watchers: Iterable<Watcher>,
  clocks: Map<string, number | null>,
): Promise<ReadonlySet<string>> {
  const wanted = new Map<string, Clock>();
  for (const watcher of watchers) {
    const { scope, accountId = null, requestId } = watcher;
    if (requestId !== undefined) continue;
    wanted.set(clockOf(watcher), { partner_id: scope.partnerId, test_mode: scope.testMode, account_id: accountId });
  }
  if (wanted.size === 0) return new Set();
  const asked = [...wanted].map(([key, clock]) => ({ key, ...clock }));
  const rows = await db.sql<{ key: string; last_at: Date | null }[]>`
    select w.key, case when w.account_id is null
        then (select c.last_at from partner_clocks c
          where c.partner_id = w.partner_id and c.test_mode = w.test_mode)
        else (select r.created_at from requests r
          where r.partner_id = w.partner_id and r.test_mode = w.test_mode and r.account_id = w.account_id
          order by r.created_at desc limit 1) end as last_at
    from json_to_recordset(${JSON.stringify(asked)}::json)
      as w (key text, partner_id uuid, test_mode boolean, account_id uuid)`;
  const moved = new Set<string>();
  for (const { key, last_at } of rows) {
    const before = clocks.get(key);
    const now = last_at?.getTime() ?? 0;
    clocks.set(key, now);
    if (before !== now) moved.add(key);
  }
  return moved;
}
