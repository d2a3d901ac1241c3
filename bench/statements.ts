import { randomBytes } from 'node:crypto';
import type { Context } from '../src/context.ts';
import type { Sql } from '../src/db/connection.ts';
import { buildServer } from '../src/http/server.ts';
import { maxGroupSize } from '../src/requests/grouped-creates-store.ts';
import { idOf, prefixOf, shape } from './fixtures.ts';

/** A statement that a create sends to the database, verbatim, with its parameters. */
type Sent = { text: string; parameters: unknown[] };
/** A create: its key's number, what it sent, and the request that it created. */
type Made = { key: number; amount: number; idempotencyKey: string; id: string; micro: string };
/** A statement, with the creates that it stored. */
type Statement = Sent & { made: Made[] };

/** The body of a create call as a till sends it. */
export function createBody(merchant: number, amount: number, idempotencyKey: string): string {
  return JSON.stringify({
    account_id: idOf('b', merchant),
    fiat_amount_int: amount,
    fiat_currency_code: 'EUR',
    memo: 'Table 7',
    idempotency_key: idempotencyKey,
    metadata: { order: 'A-1047', till: '3' },
  });
}

/** The merchant of the j-th call with key `k`: one of the five of the key's partner. */
export const merchantOf = (key: number, j: number) =>
  (key % shape.partners) + shape.partners * (j % (shape.merchants / shape.partners));

/** How many creates are sent at once. The server stores some of them together. */
const atOnce = 30;
/** How often this is tried until one statement stores the maximum number. */
const maxTries = 50;

/**
 * Makes creates in this process and records the statements of those that rely on what an earlier create has read, as
 * almost all do: of one that is stored alone, and of as many as are stored together under load.
 */
async function capture(ctx: Context, keys: string[]): Promise<{ alone: Statement; together: Statement }> {
  const app = await buildServer(ctx);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  let next = 1250; // each amount is used once, so that none gets a surcharge
  const create = async (key: number): Promise<Made> => {
    const fiatInt = next++;
    const idempotencyKey = randomBytes(16).toString('hex');
    const headers = { authorization: `Bearer ${keys[key]}`, 'content-type': 'application/json' };
    const call = { method: 'POST', headers, body: createBody(key, fiatInt, idempotencyKey) };
    const answer = await fetch(`${origin}/api/v1/requests/create`, call);
    const body = await answer.text();
    if (answer.status !== 201) throw new Error(`a create answered ${answer.status}: ${body}`);
    const { request_id: id, amount } = JSON.parse(body);
    return { key, amount: fiatInt, idempotencyKey, id, micro: amount.usdc_micro };
  };
  const record = async (calls: number[]) => {
    const sent: Sent[] = [];
    ctx.db.sql.observer = (_connection, { text, values }) => sent.push({ text, parameters: values });
    const made = await Promise.all(calls.map(create));
    ctx.db.sql.observer = null;
    return { sent, made };
  };
  const all = Array.from({ length: atOnce }, (_, key) => key);
  for (const key of all) await create(key);
  const { sent, made } = await record([0]);
  const [alone] = sent;
  if (!alone || sent.length !== 1) throw new Error(`a create sent ${sent.length} statements`);
  const statements = { alone: { ...alone, made } };
  try {
    for (let tries = 0; tries < maxTries; tries++) {
      const { sent, made } = await record(all);
      for (const one of sent) {
        const members = membersOf(one, made);
        if (members.length === maxGroupSize) return { ...statements, together: { ...one, made: members } };
      }
    }
  } finally {
    await app.close();
  }
  throw new Error(`in ${maxTries} tries no ${maxGroupSize} creates went together`);
}

/** The creates that a statement stores, in its order. */
function membersOf({ parameters }: Sent, made: Made[]): Made[] {
  const ids = parameters.flat();
  return made.filter(({ id }) => ids.includes(id)).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

/** The values of a create that differ between calls, each with what a script puts in its place. */
function knownOf({ key, amount, idempotencyKey, id, micro }: Made, place: number): [string, string][] {
  return [
    [idempotencyKey, `'bench-' || lpad(:nonce${place}::text, 32, '0')`],
    [idOf('a', key), `('${prefixOf('a')}' || lpad(:partner${place}::text, 12, '0'))::uuid`],
    [idOf('b', key), `('${prefixOf('b')}' || lpad(:merchant${place}::text, 12, '0'))::uuid`],
    [`0x${key.toString(16).padStart(40, '0')}`, `'0x' || lpad(to_hex(:merchant${place}::int), 40, '0')`],
    [id, 'uuidv7()'],
    [String(amount), `:amount${place}`],
    [micro, `:micro${place}`],
  ];
}

/** A parameter for pgbench: the script's variables where values differ between calls, the value itself elsewhere. */
function expression(value: unknown, known: Map<string, string>, place = 0): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `array[${value.map((one, at) => expression(one, known, at)).join(', ')}]`;
  const text = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
  if (/^\\x[0-9a-f]{64}$/.test(text)) return `decode(lpad(:key${place}::text, 64, '0'), 'hex')`;
  if (/^\\x[0-9a-f]{32}$/.test(text)) return 'uuid_send(gen_random_uuid())'; // the reference
  // pgbench treats a colon before a letter as a variable, even in a literal.
  return known.get(text) ?? `E'${text.replaceAll("'", "''").replace(/:(?=[a-z_])/gi, '\\x3a')}'`;
}

/** The variables of one create. Creates that are stored together belong to different partners. */
const variablesOf = (place: number) => [
  place === 0
    ? `\\set partner0 random(0, ${shape.partners - 1})`
    : `\\set partner${place} (:partner0 + ${place * Math.floor(shape.partners / maxGroupSize)}) % ${shape.partners}`,
  `\\set key${place} :partner${place} + ${shape.partners} * random(0, ${shape.keys / shape.partners - 1})`,
  `\\set merchant${place} :partner${place} + ${shape.partners} * random(0, ${shape.merchants / shape.partners - 1})`,
  `\\set amount${place} random(100, 99999)`,
  `\\set micro${place} (:amount${place} * 1000000 + 91) / 92`,
  `\\set nonce${place} random(1, 9000000000000000000)`,
];

/** A statement as it was sent, and a script of pgbench that sends it with random values. */
export type Scripted = { statement: string; script: string };

/**
 * The statements of a create that is stored alone and of creates that are stored together, and a script that inserts
 * only the complete row of a create into `bare_requests`. Keys, ids and amounts are computed from random numbers with a
 * few function calls, which take almost no time.
 */
export async function readStatements(
  ctx: Context,
  keys: string[],
): Promise<{ alone: Scripted; together: Scripted; bareScript: string }> {
  const { alone, together } = await capture(ctx, keys);
  const known = new Map(alone.made.flatMap(knownOf));
  return {
    alone: scripted(alone),
    together: scripted(together),
    bareScript: scriptOf(await bareInsert(ctx, alone.made[0]?.id ?? '', known), 1),
  };
}

function scripted({ text, parameters, made }: Statement): Scripted {
  const known = new Map(made.flatMap(knownOf));
  const filled = text.replace(/\$(\d+)/g, (_, number) => expression(parameters[Number(number) - 1], known));
  const statement = text
    .replace(/^ {4}/gm, '')
    .replace(/\s*\n(\s*\n)*/g, '\n')
    .trim();
  return { statement, script: scriptOf(filled, made.length) };
}

function scriptOf(statement: string, creates: number): string {
  const variables = Array.from({ length: creates }, (_, place) => variablesOf(place));
  return `${[...variables.flat(), `${statement.replace(/\s*\n\s*/g, ' ').trim()};`].join('\n')}\n`;
}

/** The insert of one complete row, as the create stored it, with the script's values. */
async function bareInsert({ db: { sql } }: Context, id: string, known: Map<string, string>): Promise<string> {
  const [row] = await sql<{ columns: Record<string, string | null> }[]>`
    select jsonb_object_agg(c.key, c.value #>> '{}') as columns
    from requests r, lateral jsonb_each(to_jsonb(r)) c where r.id = ${id}`;
  const columns = Object.entries(row?.columns ?? {});
  if (columns.length < 30) throw new Error('the row of the create was not found');
  const values = columns.map(([name, value]) => (name.endsWith('_at') && value ? 'now()' : expression(value, known)));
  return `insert into bare_requests (${columns.map(([name]) => name).join(', ')}) values (${values.join(', ')})`;
}

/** Creates the table for the bare insert: the columns of `requests`, with only its primary and its idempotency key. */
export async function makeBareTable(owner: Sql, reader: string): Promise<void> {
  await owner.unsafe(`
    create table bare_requests (like requests including defaults,
      primary key (partner_id, test_mode, id), unique (partner_id, test_mode, account_id, idempotency_key));
    grant insert on bare_requests to ${reader}`);
}
