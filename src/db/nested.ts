import type { Database, Scope, Sql, Tx } from './connection.ts';

/**
 * A database whose statements and transactions all become part of one open transaction. Code that opens transactions
 * itself then commits together with other work, or not at all. Only one inner transaction may run at a time.
 */
export function nestedIn(tx: Tx, { prove, disk }: Pick<Database, 'prove' | 'disk'>): Database {
  const scoped = <T>(scope: Scope, work: (inner: Tx) => Promise<T>) =>
    tx.savepoint(async (inner) => {
      const [, result] = await Promise.all([
        inner`select enter_scope(${scope.partnerId}, ${scope.testMode}, ${prove(scope)})`.execute(),
        work(inner),
      ]);
      await inner`select leave_scope()`; // rolling back to a savepoint restores the role by itself
      return result;
    }) as Promise<T>;
  return partOf(tx, { prove, disk, scoped });
}

/** Like `nestedIn`, for a transaction of a scope. It stays in that scope and cannot enter another. */
export function nestedInScope(tx: Tx, own: Scope, { prove, disk }: Pick<Database, 'prove' | 'disk'>): Database {
  const scoped = async <T>({ partnerId, testMode }: Scope, work: (inner: Tx) => Promise<T>) => {
    if (partnerId !== own.partnerId || testMode !== own.testMode) throw new Error('a scope inside another scope');
    return tx.savepoint(work) as Promise<T>;
  };
  return partOf(tx, { prove, disk, scoped });
}

type Entry = Pick<Database, 'prove' | 'disk' | 'scoped'>;

/** The database as a part of an open transaction: everything goes through it, each transaction as a savepoint. */
function partOf(tx: Tx, { prove, disk, scoped }: Entry): Database {
  const read: Database['read'] = (scope, ask) => scoped(scope, async (inner) => ask(inner));
  return {
    sql: tx as unknown as Sql,
    pools: [],
    disk,
    prove,
    transaction: <T>(work: (inner: Tx) => Promise<T>) => tx.savepoint(work) as Promise<T>,
    scoped,
    reading: scoped,
    read,
    readPrimary: read,
    close: () => Promise.resolve(),
  };
}
