import { type Change, hearChanges } from './changes.ts';
import type { Database, Scope } from './connection.ts';

/** Somebody who looks at one partner and mode, or at one merchant or request of it. */
export type Watcher = {
  scope: Scope;
  accountId?: string;
  requestId?: string;
  /** Wants to know how far chains were read, too: they move all the time. */
  chains: boolean;
  wake(): void;
};

/** Creates are told by nobody, so the partners' clocks are asked, once for all who watch. */
const askEveryMs = 1_000;

type Watch = { watchers: Set<Watcher>; end(): Promise<void> };
const watches = new WeakMap<Database, Watch>();

/**
 * Wakes a watcher whenever something of its scope has changed, made by any process. A process listens once and asks once a
 * second, however many watch, and only while somebody does.
 *
 * @returns what ends it
 */
export function watchScope(db: Database, watcher: Watcher, complain: (error: unknown) => void): () => void {
  const watch = watches.get(db) ?? beginWatch(db, complain);
  watches.set(db, watch);
  watch.watchers.add(watcher);
  return () => {
    watch.watchers.delete(watcher);
    if (watch.watchers.size > 0 || watches.get(db) !== watch) return;
    watches.delete(db);
    watch.end().catch(complain);
  };
}

function beginWatch(db: Database, complain: (error: unknown) => void): Watch {
  const watchers = new Set<Watcher>();
  const clocks = new Map<string, number>();
  const hear = (change: Change) => {
    for (const watcher of watchers) if (isConcerned(watcher, change)) watcher.wake();
  };
  let asking = false;
  const ask = async () => {
    if (asking) return;
    asking = true;
    try {
      for (const scope of await movedClocks(db, watchers, clocks)) {
        for (const watcher of watchers) if (keyOf(watcher.scope) === scope) watcher.wake();
      }
    } catch (error) {
      complain(error);
    } finally {
      asking = false;
    }
  };
  const timer = setInterval(ask, askEveryMs);
  const hearing = hearChanges(db, hear);
  hearing.catch(complain); // those who watch are still woken every second that brings a new request
  return {
    watchers,
    end: async () => {
      clearInterval(timer);
      const unlisten = await hearing.catch(() => null);
      await unlisten?.();
    },
  };
}

const keyOf = ({ partnerId, testMode }: Scope) => `${partnerId} ${testMode}`;

function isConcerned({ scope, accountId, requestId, chains }: Watcher, change: Change): boolean {
  if (change.kind === 'anything') return true;
  if (change.kind === 'chain') return chains;
  if (change.partnerId !== scope.partnerId || change.testMode !== scope.testMode) return false;
  if (requestId !== undefined) return change.requestId === requestId;
  return accountId === undefined || change.accountId === accountId;
}

/** The scopes of those who watch lists in which something was made since the last look. */
async function movedClocks(db: Database, watchers: Set<Watcher>, clocks: Map<string, number>): Promise<string[]> {
  const scopes = new Map<string, Scope>();
  for (const { scope, requestId } of watchers) if (requestId === undefined) scopes.set(keyOf(scope), scope);
  for (const key of clocks.keys()) if (!scopes.has(key)) clocks.delete(key);
  if (scopes.size === 0) return [];
  const wanted = [...scopes.values()].map(({ partnerId, testMode }) => ({
    partner_id: partnerId,
    test_mode: testMode,
  }));
  const rows = await db.sql<{ partner_id: string; test_mode: boolean; last_at: Date }[]>`
    select c.partner_id, c.test_mode, c.last_at from partner_clocks c
      join json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean)
        using (partner_id, test_mode)`;
  const moved: string[] = [];
  for (const { partner_id, test_mode, last_at } of rows) {
    const key = `${partner_id} ${test_mode}`;
    const before = clocks.get(key);
    clocks.set(key, last_at.getTime());
    if (before !== undefined && before !== last_at.getTime()) moved.push(key);
  }
  return moved;
}
