import pg from 'pg';
import { preparedAnew, type Send, type Tag, tagOf } from './sql.ts';

/**
 * A transaction. If one of its statements fails, the transaction fails, even if the error was caught, except inside a
 * savepoint.
 */
export type Transaction = Tag & {
  /** Runs work that is rolled back alone if it fails. Only one savepoint may be open at a time. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
};

/** Whether the plan of a prepared statement is stale: a migration changed its columns, or the statement is gone. */
export const isStale = (error: unknown) =>
  error instanceof pg.DatabaseError &&
  ((error.code === '0A000' && error.routine === 'RevalidateCachedQuery') || error.code === '26000');

/** Opens the client's side of a transaction: what it and its savepoints may send, and which statement failed. */
export function openTransaction(sendIt: Send) {
  let [savepoints, isOver] = [0, false];
  let closedBy: Error | undefined;
  const level = (hasEnded: () => boolean) => {
    let failed: { error: unknown } | undefined;
    let isReleased = false;
    const isPast = () => isReleased || hasEnded();
    const sendHere: Send = (statement) => {
      // After the transaction, the connection may serve others, and a late statement must not reach their transactions.
      // After a savepoint, its scope has ended, so a late statement of it must not run either.
      if (isPast()) return Promise.reject(closedBy ?? endedError());
      const answer = sendIt(statement).catch((error) => {
        if (!isStale(error)) throw error;
        preparedAnew(statement);
        throw staleError(error);
      });
      answer.catch((error) => {
        failed ??= { error };
      });
      return answer;
    };
    const savepoint: Transaction['savepoint'] = async (work) => {
      const name = `s${++savepoints}`;
      const inner = level(isPast);
      await tx.unsafe(`savepoint ${name}`);
      try {
        const value = await work(inner.tx);
        inner.check();
        inner.release();
        await tx.unsafe(`release savepoint ${name}`);
        return value;
      } catch (error) {
        inner.release();
        await tx.unsafe(`rollback to savepoint ${name}`);
        throw inner.reason(error);
      }
    };
    const tx: Transaction = Object.assign(tagOf(sendHere), { savepoint });
    return {
      tx,
      check: () => {
        if (failed) throw failed.error;
      },
      release: () => {
        isReleased = true;
      },
      /** The first error, rather than the follow-up error that the transaction was aborted. */
      reason: (error: unknown) => (failed && (error as { code?: unknown }).code === '25P02' ? failed.error : error),
    };
  };
  return {
    ...level(() => isOver),
    close: (error?: Error) => {
      isOver = true;
      closedBy = error;
    },
  };
}

/** The error of a transaction that a stale plan has rolled back. Callers retry it like a lost connection. */
const staleError = (cause: unknown) =>
  Object.assign(new Error('the plan of a statement is stale', { cause }), { code: 'CONNECTION_PLAN_STALE' });

const endedError = () => Object.assign(new Error('the transaction has ended'), { code: 'TRANSACTION_ENDED' });
