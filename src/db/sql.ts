/** What a statement's `${…}` may contain beside fragments. A value becomes a parameter, a fragment part of the text. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null | readonly Value[];
// biome-ignore lint/suspicious/noExplicitAny: whoever asks names the columns, or takes them as they come
export type Row = Record<string, any>;
/**
 * The rows of an answer. `count`: how many rows a write has changed; `command`: what the server did, such as
 * `ROLLBACK`.
 */
export type Rows<T extends readonly object[]> = T & { count: number; command: string };

/** A statement's text and parameters. A prepared one has a name, under which each connection keeps its plan. */
export type Sendable = { text: string; values: Value[]; name?: string };
/** Sends a statement. */
export type Send = (statement: Sendable) => Promise<Rows<Row[]>>;

/** A part of a statement. */
export class Fragment {
  readonly write: (draft: Draft) => void;
  constructor(write: (draft: Draft) => void) {
    this.write = write;
  }
}

/**
 * A statement that is sent when it is awaited, or when `execute` is called; until then it can be a part of another one.
 */
export class Statement<T> extends Fragment implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Statement';
  readonly #send: Send;
  #answer: Promise<T> | undefined;

  constructor(write: (draft: Draft) => void, send: Send) {
    super(write);
    this.#send = send;
  }

  /** Sends it now. */
  execute(): Promise<T> {
    if (!this.#answer) {
      this.#answer = this.#run();
      this.#answer.catch(() => {}); // whoever awaits it gets the error, and a transaction keeps it
    }
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: a statement is awaited
  then<A = T, B = never>(
    answered?: ((rows: T) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.execute().then(answered, failed);
  }

  catch<B = never>(failed?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.execute().catch(failed);
  }

  finally(settled?: (() => void) | null): Promise<T> {
    return this.execute().finally(settled);
  }

  async #run(): Promise<T> {
    return this.#send(sendableOf(this)) as Promise<T>;
  }
}

/** Collects the text and the parameters of a statement. */
class Draft {
  #text = '';
  readonly #values: Value[] = [];
  #prepared = true;

  add(text: string): void {
    this.#text += text;
  }

  /** @throws Error with the code `UNDEFINED_VALUE`, so that a missing value is not stored as null by mistake */
  parameter(value: unknown): void {
    if (value === undefined) {
      throw Object.assign(new Error(`parameter ${this.#values.length + 1} is undefined`), { code: 'UNDEFINED_VALUE' });
    }
    this.#text += `$${this.#values.push(value as Value)}${castOf(value)}`;
  }

  /** Leaves the statement unprepared, because its text has many variants: a connection would keep a plan for each. */
  unprepared(): void {
    this.#prepared = false;
  }

  finish(): Sendable {
    const [text, values] = [this.#text, this.#values];
    return this.#prepared ? { text, values, name: nameOf(text) } : { text, values };
  }
}

/** The cast for types that the server may guess wrong: it takes `$1` of `$1 - interval '1 day'` for an interval. */
function castOf(value: unknown): string {
  if (value instanceof Date) return '::timestamptz';
  return typeof value === 'boolean' ? '::boolean' : '';
}

/** The text and parameters of a statement, without sending it. */
export function sendableOf(statement: Fragment): Sendable {
  const draft = new Draft();
  statement.write(draft);
  return draft.finish();
}

/**
 * The names of prepared statements. A name always belongs to the same text; a text gets a new name when its plans are
 * stale.
 */
const preparedNames = new Map<string, string>();
let named = 0;
const maxNames = 5_000;

function nameOf(text: string): string | undefined {
  const known = preparedNames.get(text);
  if (known !== undefined || preparedNames.size >= maxNames) return known;
  const name = `q${++named}`;
  preparedNames.set(text, name);
  return name;
}

/** A statement under a new name: the server refuses the old plan after a migration changed its columns. */
export function preparedAnew({ text, values, name }: Sendable): Sendable {
  if (preparedNames.get(text) === name) preparedNames.delete(text);
  return { text, values, name: nameOf(text) };
}

function write(strings: readonly string[], parts: readonly unknown[]): (draft: Draft) => void {
  return (draft) => {
    strings.forEach((string, at) => {
      draft.add(string);
      if (at === parts.length) return;
      const part = parts[at];
      if (part instanceof Fragment) part.write(draft);
      else draft.parameter(part);
    });
  };
}

/** SQL as a tagged template: ``await sql<Row[]>`select … where id = ${id}` ``. */
export type Tag = {
  <T extends readonly object[] = Row[]>(
    strings: TemplateStringsArray,
    ...parts: (Value | Fragment)[]
  ): Statement<Rows<T>>;
  /** Sends a text unchanged, for several statements or ones that take no parameters. Never use outside input in it. */
  unsafe<T extends readonly object[] = Row[]>(text: string): Statement<Rows<T>>;
};

/** A tag whose statements are sent by this function. */
export function tagOf(send: Send): Tag {
  const tag = (strings: TemplateStringsArray, ...parts: unknown[]) => new Statement(write(strings, parts), send);
  const unsafe = (text: string) =>
    new Statement((draft) => {
      draft.unprepared();
      draft.add(text);
    }, send);
  return Object.assign(tag, { unsafe }) as Tag;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** Quoted names of columns or tables, separated by commas. */
export const identifiers = (...all: string[]): Fragment =>
  new Fragment((draft) => draft.add(all.map(quoted).join(', ')));

/**
 * A whole number as a part of the text, such as the size of a page. A generic plan then knows it; for a limit that is a
 * parameter, it assumes a tenth of all rows. Each value makes another text, so there must be few.
 */
export function constant(value: number): Fragment {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`);
  return new Fragment((draft) => draft.add(String(value)));
}

function writeList(draft: Draft, values: readonly unknown[]): void {
  draft.add('(');
  values.forEach((value, at) => {
    if (at > 0) draft.add(', ');
    draft.parameter(value);
  });
  draft.add(')');
}

/** Lists up to this length are prepared, because they have few texts. Every call has such a list: its key's hashes. */
const maxPreparedValues = 4;

/** `in ${list(values)}`; an empty list contains nothing. */
export const list = (values: readonly Value[]): Fragment =>
  new Fragment((draft) => {
    if (values.length > maxPreparedValues) draft.unprepared();
    writeList(draft, values.length > 0 ? values : [null]);
  });

/** `insert into … ${insertion(rows)}`: the columns of the first row, and the values of all. */
export const insertion = (rows: readonly object[]): Fragment =>
  new Fragment((draft) => {
    const columns = Object.keys(rows[0] ?? {});
    draft.unprepared();
    draft.add(`(${columns.map(quoted).join(', ')}) values `);
    rows.forEach((row, at) => {
      if (at > 0) draft.add(', ');
      writeList(
        draft,
        columns.map((column) => (row as Row)[column]),
      );
    });
  });

/** `update … set ${assignment(changes)}`. */
export const assignment = (changes: object): Fragment =>
  new Fragment((draft) => {
    Object.entries(changes).forEach(([column, value], at) => {
      if (at > 0) draft.add(', ');
      draft.add(`${quoted(column)} = `);
      draft.parameter(value);
    });
  });
