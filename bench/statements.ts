import { randomBytes } from 'node:crypto';
import type { Context } from '../src/context.ts';
import type { Sql } from '../src/db/connection.ts';
import { buildServer } from '../src/http/server.ts';
import { idOf, prefixOf, shape } from './fixtures.ts';

/** A statement that a create sends to the database, verbatim, with its parameters. */
type Sent = { text: string; parameters: unknown[] };

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

/**
 * Makes two create calls in this process and records what the second sends to the database: it assumes what the first
 * has read, as almost all creates do.
 */
async function capture(ctx: Context, key: string): Promise<{ sent: Sent[]; known: Known }> {
  const sent: Sent[] = [];
  const app = await buildServer(ctx);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const create = async (amount: number, idempotencyKey: string) => {
    const call = { method: 'POST', headers, body: createBody(0, amount, idempotencyKey) };
    const answer = await fetch(`${origin}/api/v1/requests/create`, call);
    const body = await answer.text();
    if (answer.status !== 201) throw new Error(`a create answered ${answer.status}: ${body}`);
    return body;
  };
  await create(999, randomBytes(16).toString('hex'));
  const idempotencyKey = randomBytes(16).toString('hex');
  ctx.db.sql.observer = (_connection, { text, values }) => sent.push({ text, parameters: values });
  const body = await create(1250, idempotencyKey);
  ctx.db.sql.observer = null;
  await app.close();
  if (sent.length !== 1) throw new Error(`a create sent ${sent.length} statements`);
  const { request_id, amount } = JSON.parse(body);
  const known = new Map([
    [idempotencyKey, "'bench-' || lpad(:nonce::text, 32, '0')"],
    [idOf('a', 0), `('${prefixOf('a')}' || lpad(:partner::text, 12, '0'))::uuid`],
    [idOf('b', 0), `('${prefixOf('b')}' || lpad(:merchant::text, 12, '0'))::uuid`],
    [`0x${'0'.repeat(40)}`, "'0x' || lpad(to_hex(:merchant::int), 40, '0')"],
    [request_id, 'uuidv7()'],
    ['1250', ':amount'],
    [amount.usdc_micro, ':micro'],
  ]);
  return { sent, known };
}

/** A parameter for pgbench: the script's variables where values differ between calls, the value itself elsewhere. */
function expression(value: unknown, known: Map<string, string>): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `'{${value.join(',')}}'`;
  const text = value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value);
  if (/^\\x[0-9a-f]{64}$/.test(text)) return "decode(lpad(:key::text, 64, '0'), 'hex')";
  if (/^\\x[0-9a-f]{32}$/.test(text)) return 'uuid_send(gen_random_uuid())'; // the reference
  // pgbench takes a colon before a letter for a variable, in a literal too.
  return known.get(text) ?? `E'${text.replaceAll("'", "''").replace(/:(?=[a-z_])/gi, '\\x3a')}'`;
}

const variables = [
  `\\set key random(0, ${shape.keys - 1})`,
  `\\set partner :key % ${shape.partners}`,
  `\\set merchant :partner + ${shape.partners} * random(0, ${shape.merchants / shape.partners - 1})`,
  '\\set amount random(100, 99999)',
  '\\set micro (:amount * 1000000 + 91) / 92',
  '\\set nonce random(1, 9000000000000000000)',
];

/** Known values of the create, each with what a script puts in its place. */
type Known = Map<string, string>;

/**
 * The statements of a create, and two pgbench scripts with as random values: one sends the same statements, the other
 * inserts only the complete row that they make, into `bare_requests`. Keys, ids and amounts are computed from random
 * numbers with a few function calls, which cost next to nothing.
 */
export async function readStatements(
  ctx: Context,
  key: string,
): Promise<{ statements: string[]; script: string; bareScript: string }> {
  const { sent, known } = await capture(ctx, key);
  const filled = sent.map(({ text, parameters }) =>
    text.replace(/\$(\d+)/g, (_, number) => expression(parameters[Number(number) - 1], known)),
  );
  return {
    statements: sent.map(({ text }) =>
      text
        .replace(/^ {4}/gm, '')
        .replace(/\s*\n(\s*\n)*/g, '\n')
        .trim(),
    ),
    script: scriptOf(filled),
    bareScript: scriptOf([await bareInsert(ctx, known)]),
  };
}

const scriptOf = (statements: string[]) =>
  `${[...variables, ...statements.map((text) => `${text.replace(/\s*\n\s*/g, ' ').trim()};`)].join('\n')}\n`;

/** The insert of one complete row, as the create stored it, with the script's values. */
async function bareInsert({ db: { sql } }: Context, known: Known): Promise<string> {
  const [row] = await sql<{ columns: Record<string, string | null> }[]>`
    select jsonb_object_agg(c.key, c.value #>> '{}') as columns
    from requests r, lateral jsonb_each(to_jsonb(r)) c where r.fiat_int = 1250 group by r.id`;
  const columns = Object.entries(row?.columns ?? {});
  if (columns.length < 30) throw new Error('the row of the create was not found');
  const values = columns.map(([name, value]) => (name.endsWith('_at') && value ? 'now()' : expression(value, known)));
  return `insert into bare_requests (${columns.map(([name]) => name).join(', ')}) values (${values.join(', ')})`;
}

/** The yardstick's table: the columns of `requests` with its primary key and the one of idempotency, and no more. */
export async function makeBareTable(owner: Sql, reader: string): Promise<void> {
  await owner.unsafe(`
    create table bare_requests (like requests including defaults,
      primary key (partner_id, test_mode, id), unique (partner_id, test_mode, account_id, idempotency_key));
    grant insert on bare_requests to ${reader}`);
}
