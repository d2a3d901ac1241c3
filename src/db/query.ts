import pg from 'pg';
import type { AnswerClock } from './answer-clock.ts';
import type { DiskState } from './pool.ts';
import { type BuildRow, type Field, rowsOf } from './rows.ts';
import type { Row, Rows, Sendable } from './sql.ts';

/** Internals that pg's types do not declare: how a query is sent and receives its answer. `pg-cursor` uses them too. */
type Wire = {
  bind(message: { statement: string; values: unknown[]; valueMapper: (value: unknown) => unknown }): void;
  execute(message: object): void;
  sync(): void;
  close(message: { type: 'S'; name: string }): void;
  parsedStatements: Record<string, string>;
  stream: { cork(): void; uncork(): void };
};
type Answered = {
  name: string | undefined;
  values: unknown[];
  callback: Callback;
  submit(connection: Wire): Error | null;
  handleRowDescription(message: { fields: Field[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
};
type Callback = (error: Error | null, rows?: Rows<Row[]>) => void;
const PgQuery = pg.Query as unknown as new (text: string) => Answered;
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

/** The row builders of each connection's prepared statements, by name. The one used most recently comes last. */
const knownColumns = new WeakMap<Wire, PreparedStatements>();
type PreparedStatements = Map<string, BuildRow>;

/** The row builder of a prepared statement; marks the statement as used. */
function lastUsed(known: PreparedStatements, name: string): BuildRow | undefined {
  const build = known.get(name);
  if (build && known.delete(name)) known.set(name, build);
  return build;
}

/**
 * A statement in progress. pg asks the server for the columns of a prepared statement at every call. This class asks
 * once per connection, which is safe because the server refuses a plan whose columns have changed.
 */
class Query extends PgQuery {
  #build: BuildRow = () => ({});
  #rows: Row[] = [];
  #answer: Rows<Row[]> | undefined;
  /** Where its row builder is stored once the columns are known. */
  #known: PreparedStatements | undefined;
  #fault: Error | undefined;
  readonly #maxKept: number;
  readonly #ahead: Sendable | null;
  #isAnsweredAhead = true;

  constructor({ text, values, name }: Sendable, { maxKept, ahead }: Sending, callback: Callback) {
    super(text);
    this.#maxKept = maxKept;
    this.#ahead = ahead;
    this.values = values;
    this.name = name;
    this.callback = callback;
  }

  override submit(connection: Wire): Error | null {
    const { name, values } = this;
    if (name === undefined) return super.submit(connection);
    const known = knownColumns.get(connection) ?? (new Map() as PreparedStatements);
    knownColumns.set(connection, known);
    connection.stream.cork();
    try {
      const ahead = this.#ahead && this.#writeAhead(this.#ahead, known);
      const build = lastUsed(known, name);
      if (!build) evictOldest(connection, known, this.#maxKept);
      ahead?.(connection);
      if (!build) {
        this.#known = known;
        return super.submit(connection);
      }
      this.#build = build;
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      connection.execute({});
      connection.sync();
      return null;
    } catch (error) {
      return error as Error; // a value could not be encoded, and nothing was sent
    } finally {
      connection.stream.uncork();
    }
  }

  /**
   * Encodes all values now, so that one that cannot be encoded fails before anything is sent. Also marks the statement
   * as used, so that it is not closed to make room for the following one.
   *
   * @returns a function that sends the statement without `sync`: the following one runs in the same transaction, and
   * not at all if this one fails
   */
  #writeAhead({ name = '', values }: Sendable, known: PreparedStatements): (connection: Wire) => void {
    this.values = this.values.map(prepareValue);
    if (!lastUsed(known, name)) throw new Error('what is sent ahead was not prepared');
    return (connection) => {
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      connection.execute({});
      this.#isAnsweredAhead = false;
    };
  }

  override handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#build = rowsOf(fields);
  }

  override handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (!this.#isAnsweredAhead) return;
    try {
      this.#rows.push(this.#build(fields));
    } catch (error) {
      this.#fault = error as Error;
    }
  }

  /** A text of several statements is answered by the last one's result. */
  override handleCommandComplete({ text }: { text: string }): void {
    if (!this.#isAnsweredAhead) {
      this.#isAnsweredAhead = true;
      return;
    }
    const [, command = '', count = 0] = /^(\w+).*?(\d+)?$/.exec(text) ?? [];
    this.#answer = Object.assign(this.#rows, { count: Number(count), command });
    this.#rows = [];
    if (this.name !== undefined) this.#known?.set(this.name, this.#build);
  }

  override handleReadyForQuery(): void {
    if (this.#fault) this.callback(this.#fault);
    else this.callback(null, this.#answer ?? Object.assign([], { count: 0, command: '' }));
  }
}

/** Makes room for one more prepared statement. The server closes the oldest before it reads the next message. */
function evictOldest(connection: Wire, known: PreparedStatements, maxKept: number): void {
  for (const oldest of known.keys()) {
    if (known.size < maxKept) return;
    known.delete(oldest);
    delete connection.parsedStatements[oldest];
    connection.close({ type: 'S', name: oldest });
  }
}

/** Whether this statement is prepared on a connection. */
export function isPreparedOn(client: pg.ClientBase, { name = '' }: Sendable): boolean {
  const { connection } = client as unknown as { connection: Wire };
  return knownColumns.get(connection)?.has(name) ?? false;
}

/**
 * `maxKept`: how many statements stay prepared on a connection. `ahead`: a statement that is prepared on it and is sent
 * before another prepared one in the same message, so that the two form one transaction; its answer is ignored.
 * `clock`: the connection's. `pool`: notes when the server answered, even with an error, and when its disk was full.
 */
export type Sending = { maxKept: number; ahead: Sendable | null; clock: AnswerClock; pool: Noting };
type Noting = { answeredAtMs: number; disk: DiskState };

/** The SQLSTATE of a full disk. */
export const diskFull = '53100';

/** Sends a statement over a connection. */
export async function sendOver(client: pg.ClientBase, statement: Sendable, sending: Sending): Promise<Rows<Row[]>> {
  try {
    return await new Promise((resolve, reject) => {
      const callback: Callback = (error, rows) => {
        sending.clock.answered();
        if (!error || error instanceof pg.DatabaseError) sending.pool.answeredAtMs = performance.now();
        if (error instanceof pg.DatabaseError && error.code === diskFull)
          sending.pool.disk.fullAtMs = performance.now();
        return error ? reject(error) : resolve(rows as Rows<Row[]>);
      };
      sending.clock.sent();
      client.query(new Query(statement, sending, callback) as unknown as pg.Submittable);
    });
  } catch (error) {
    Error.captureStackTrace(error as Error); // so that the stack leads to the caller instead of the socket
    throw error;
  }
}
