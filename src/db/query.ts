import pg from 'pg';
import type { Row, Rows, Sendable } from './sql.ts';

const asText = (text: string) => text;
const anyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text');
/** Sessions tell times in UTC, which JavaScript reads by itself in half the time. A list has hundreds. */
const readTime = (text: string) =>
  text[10] === ' ' && text.endsWith('+00') ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : anyTime(text);
const textArray = pg.types.getTypeParser(1009 as never, 'text');
/** Types where the driver would lose something (digits of numbers, the order of keys, the day of a date) or be slow. */
const parsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.TIMESTAMPTZ, readTime],
  [114, asText], // json: JSON.parse would move keys that look like integers to the front
  [1082, (day) => new Date(day)], // midnight of UTC, not of where the process runs
  [1186, asText], // interval
  [1003, textArray], // name[]
  [1016, textArray], // bigint[]
  [1231, textArray], // numeric[]
]);

type Field = { name: string; dataTypeID: number };
type Column = { name: string; parse: (text: string) => unknown };

const columnOf = ({ name, dataTypeID }: Field): Column => ({
  name,
  parse: parsers.get(dataTypeID) ?? pg.types.getTypeParser(dataTypeID, 'text'),
});

/** What pg's types leave out: what a query sends, and how it receives the answer. `pg-cursor` works the same way. */
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

/** The columns of each connection's prepared statements, by name, as first answered. The last one used is the last. */
const knownColumns = new WeakMap<Wire, Map<string, readonly Column[]>>();

/**
 * A statement in progress. pg asks the server at every call what the rows of a prepared statement look like. This asks
 * once per connection, since the server refuses a plan whose columns have changed.
 */
class Query extends PgQuery {
  #columns: readonly Column[] = [];
  #rows: Row[] = [];
  #answer: Rows<Row[]> | undefined;
  /** Where its columns are noted once they are known. */
  #known: Map<string, readonly Column[]> | undefined;
  #fault: Error | undefined;
  readonly #mostKept: number;

  constructor({ text, values, name }: Sendable, mostKept: number, callback: Callback) {
    super(text);
    this.#mostKept = mostKept;
    this.values = values;
    this.name = name;
    this.callback = callback;
  }

  override submit(connection: Wire): Error | null {
    const { name, values } = this;
    if (name === undefined) return super.submit(connection);
    const known = knownColumns.get(connection) ?? new Map<string, readonly Column[]>();
    knownColumns.set(connection, known);
    const columns = known.get(name);
    connection.stream.cork();
    try {
      if (!columns) {
        forgetOldest(connection, known, this.#mostKept);
        this.#known = known;
        return super.submit(connection);
      }
      known.delete(name);
      known.set(name, columns);
      this.#columns = columns;
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      connection.execute({});
      connection.sync();
      return null;
    } catch (error) {
      return error as Error; // a value that cannot be written: nothing was sent
    } finally {
      connection.stream.uncork();
    }
  }

  override handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#columns = fields.map(columnOf);
  }

  override handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Row = {};
    try {
      this.#columns.forEach(({ name, parse }, at) => {
        const text = fields[at] as string | null;
        row[name] = text === null ? null : parse(text);
      });
    } catch (error) {
      this.#fault = error as Error;
    }
    this.#rows.push(row);
  }

  /** For a text of several statements, the last one's answer counts. */
  override handleCommandComplete({ text }: { text: string }): void {
    const [, command = '', count = 0] = /^(\w+).*?(\d+)?$/.exec(text) ?? [];
    this.#answer = Object.assign(this.#rows, { count: Number(count), command });
    this.#rows = [];
    if (this.name !== undefined) this.#known?.set(this.name, this.#columns);
  }

  override handleReadyForQuery(): void {
    if (this.#fault) this.callback(this.#fault);
    else this.callback(null, this.#answer ?? Object.assign([], { count: 0, command: '' }));
  }
}

/** Makes room for one more. The server does so before it reads what is sent next. */
function forgetOldest(connection: Wire, known: Map<string, readonly Column[]>, mostKept: number): void {
  for (const oldest of known.keys()) {
    if (known.size < mostKept) return;
    known.delete(oldest);
    delete connection.parsedStatements[oldest];
    connection.close({ type: 'S', name: oldest });
  }
}

/**
 * Sends a statement over a connection.
 *
 * @param mostKept so many statements stay prepared on it
 */
export async function sendOver(client: pg.ClientBase, statement: Sendable, mostKept: number): Promise<Rows<Row[]>> {
  try {
    return await new Promise((resolve, reject) => {
      const callback: Callback = (error, rows) => (error ? reject(error) : resolve(rows as Rows<Row[]>));
      client.query(new Query(statement, mostKept, callback) as unknown as pg.Submittable);
    });
  } catch (error) {
    Error.captureStackTrace(error as Error); // so that it names who sent the statement, not the socket
    throw error;
  }
}
