import { isBroken } from './connection-errors.ts';
import type { Opening } from './pool.ts';
import { type PoolConnections, sendTogether } from './pool-connections.ts';
import { isPreparedOn } from './query.ts';
import { runLimited, runTransaction } from './run-transaction.ts';
import {
  preparedAnew,
  type Row,
  type Rows,
  type Sendable,
  type Statement,
  sendableOf,
  type Tag,
  tagOf,
} from './sql.ts';
import { isStale } from './transaction.ts';

/** For statements whose text is needed, but which are not sent through this tag. */
const unsent = tagOf(() => Promise.reject(new Error('a statement that was only to be written was sent')));

/** Runs a statement outside of any transaction. If its plan is stale, it is planned and sent again. */
export async function runStatement(connections: PoolConnections, statement: Sendable): Promise<Rows<Row[]>> {
  const { client } = await connections.acquire();
  const { lockLimit } = connections;
  let broken: Error | undefined;
  try {
    if (lockLimit) return await runLimited(connections, client, statement, lockLimit);
    return await connections.send(client, statement).catch((error) => {
      if (!isStale(error)) throw error;
      return connections.send(client, preparedAnew(statement));
    });
  } catch (error) {
    if (isBroken(error)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Runs a reading statement in a transaction of its own. See `Pool.alone`. */
export async function runAlone<T>(
  connections: PoolConnections,
  ask: (sql: Tag) => Statement<T>,
  opening: Opening,
): Promise<T> {
  const [enter, statement] = [sendableOf(opening.enter), sendableOf(ask(unsent))];
  const acquired = await connections.acquire();
  const { client, wasCleared } = acquired;
  if (!wasCleared || statement.name === undefined || !isPreparedOn(client, enter))
    return runTransaction(connections, acquired, ask, opening);
  sendTogether(client);
  const sendNext = async (...next: [Sendable, Sendable?]) => connections.send(client, ...next);
  const answer = sendNext(statement, enter);
  let broken: Error | undefined;
  let selected = false;
  // The caller does not wait for this. It resolves to the error if the session could not be cleared.
  const clear = (text: string): Promise<Error | undefined> =>
    sendNext({ text, values: [] }).then(
      () => undefined,
      (error) => error,
    );
  const clearing = clear(opening.clearOfSelect);
  const release = async () => {
    const failed = (await clearing) ?? (selected ? undefined : await clear(opening.clear));
    client.release(broken ?? failed ?? connections.noteCleared(client));
  };
  try {
    const rows = await answer;
    selected = rows.command === 'SELECT';
    return rows as T;
  } catch (error) {
    if (isBroken(error)) broken = error as Error;
    if (!isStale(error)) throw error;
    for (const stale of [enter, statement]) preparedAnew(stale);
  } finally {
    void release();
  }
  return runTransaction(connections, await connections.acquire(), ask, opening);
}
