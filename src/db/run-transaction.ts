import type { PoolClient } from 'pg';
import { isReadOnly, lostError } from './connection-errors.ts';
import type { Opening } from './pool.ts';
import { type Acquired, type PoolConnections, sendTogether } from './pool-connections.ts';
import type { Row, Rows, Sendable } from './sql.ts';
import { openTransaction, type Transaction } from './transaction.ts';

type Work<T> = (tx: Transaction) => Promise<T>;

/**
 * Runs a single statement in a transaction that limits its waits for locks, as one message.
 *
 * @param limit the statement that sets the limit
 */
export async function runLimited(
  connections: PoolConnections,
  client: PoolClient,
  statement: Sendable,
  limit: string,
): Promise<Rows<Row[]>> {
  sendTogether(client);
  const [begun, answer, ended] = await Promise.allSettled([
    connections.send(client, { text: `begin; ${limit}`, values: [] }),
    connections.send(client, statement),
    connections.send(client, { text: 'commit', values: [] }),
  ]);
  for (const part of [begun, answer, ended]) if (part.status === 'rejected') throw part.reason;
  return (answer as PromiseFulfilledResult<Rows<Row[]>>).value;
}

/** Runs work in a transaction over an acquired connection, and releases the connection. See `Pool.begin`. */
export async function runTransaction<T>(
  connections: PoolConnections,
  { client, wasCleared }: Acquired,
  work: Work<T>,
  opening?: Opening,
): Promise<T> {
  const begin = connections.areShared ? 'begin isolation level read committed, read write' : 'begin';
  const beginAnew = [begin, opening?.clear, connections.lockLimit].filter(Boolean).join('; ');
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {}); // the race below reports it
  let broken: Error | undefined;
  let committed: Promise<unknown> = Promise.resolve();
  const lose = (error: Error) => {
    broken ??= lostError(error);
    lost.reject(broken);
  };
  const sendText = async (text: string) => connections.send(client, { text, values: [] });
  client.on('error', lose);
  const scope = openTransaction((statement) => connections.send(client, statement));
  try {
    if (opening && wasCleared) {
      sendTogether(client);
      sendText(begin).catch(lose);
    } else {
      await sendText(beginAnew).catch((error) => {
        lose(error);
        throw error;
      });
      if (opening) sendTogether(client);
    }
    const done = opening
      ? Promise.all([scope.tx`${opening.enter}`.execute(), work(scope.tx)]).then(([, value]) => value)
      : work(scope.tx);
    const value = await Promise.race([done, lost.promise]);
    scope.check();
    scope.close();
    if (opening?.onlyReads) sendTogether(client); // so the caller gets its value before anything is sent
    const commit = sendText('commit');
    if (opening?.onlyReads) {
      committed = commit;
      return value;
    }
    // A statement that nobody awaited may have failed. The server then rolls everything back, and only the answer to
    // `commit` shows it.
    const { command } = await commit;
    if (command !== 'COMMIT') throw Object.assign(new Error('the transaction was rolled back'), { code: '25P02' });
    return value;
  } catch (error) {
    scope.close(broken);
    if (!broken) await sendText('rollback').catch(lose);
    const reason = scope.reason(error);
    if (isReadOnly(reason)) broken ??= reason as Error;
    throw reason;
  } finally {
    // The caller does not wait for this. Behind a pooler it is not needed: the next transaction has another session.
    const clearing = opening && !connections.areShared && !broken ? sendText(opening.clear) : null;
    void Promise.all([committed, clearing])
      .then(() => {
        const unclear = clearing && connections.noteCleared(client);
        if (unclear) lose(unclear);
      }, lose)
      .finally(() => {
        client.off('error', lose);
        client.release(broken);
      });
  }
}
