import type { Sql } from '../src/db/connection.ts';

/** Over how many months before this one requests are spread. */
const months = 13;
/** How many requests a script of pgbench picks at a time, so that the look-up is a small part of what it sends. */
export const picked = 8;
const picks = 5_000;

/**
 * Copies `requests` twice, with UUIDv7 ids that are spread over a year: into `whole`, a table like it, and into
 * `partitioned`, which has a partition for each month of ids. Both have the checks and indexes of `requests`. A unique
 * index over partitions must contain the id, so idempotency keys are unique in `registry` there.
 */
export async function makeBoth(owner: Sql): Promise<void> {
  const names = await columnsOf(owner);
  await owner.unsafe(`
    create table whole (like requests including all);
    create table partitioned (like requests including all excluding indexes) partition by range (id);
    create table registry (partner_id uuid, test_mode boolean, account_id uuid, idempotency_key text,
      request_id uuid not null, primary key (partner_id, test_mode, account_id, idempotency_key))`);
  await makeMonths(owner);
  await indexAlike(owner);
  process.stdout.write('  one table …\n');
  const moved: Record<string, string> = { id: 'uuidv7(at - clock_timestamp())', created_at: 'at' };
  await owner.unsafe(`
    insert into whole (${names.join(', ')}) select ${names.map((name) => moved[name] ?? name).join(', ')}
    from (select r.*, now() - (1 - row_number() over (order by created_at) / count(*) over ()::float8)
      * interval '${months} months' as at from requests r) r`);
  process.stdout.write('  the same in months …\n');
  await owner.unsafe(`
    insert into partitioned select * from whole;
    insert into registry select partner_id, test_mode, account_id, idempotency_key, id from whole;
    create table picks as select (row_number() over () - 1) / ${picked} as n, p.* from
      (select partner_id as p, id as i, account_id as a, idempotency_key as k, created_at as c from whole
        order by random() limit ${picks * picked}) p;
    create index on picks (n)`);
  for (const table of ['whole', 'partitioned']) {
    await owner.unsafe(`
      create table ${table}_children (partner_id uuid, test_mode boolean, request_id uuid,
        foreign key (partner_id, test_mode, request_id) references ${table} (partner_id, test_mode, id))`);
  }
  await owner`vacuum analyze`;
  const [missing] = await owner`select id from whole except select id from partitioned limit 1`;
  if (missing) throw new Error('a request is in no month');
}

async function columnsOf(owner: Sql): Promise<string[]> {
  const columns = await owner<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = 'requests'::regclass and attnum > 0 and not attisdropped
    order by attnum`;
  return columns.map(({ name }) => name);
}

async function makeMonths(owner: Sql): Promise<void> {
  const parts = await owner<{ name: string; first: string; next: string }[]>`
    with month as (select date_trunc('month', now()) + n * interval '1 month' as at
      from generate_series(${-months}::int, 1) n),
    bound as (select at, rpad(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid::text as id
      from month)
    select to_char(at, 'YYYY_MM') as name, id as first, lead(id) over (order by at) as next from bound order by at`;
  for (const { name, first, next } of parts.filter(({ next }) => next !== null)) {
    await owner.unsafe(
      `create table partitioned_${name} partition of partitioned for values from ('${first}') to ('${next}')`,
    );
  }
}

/** Gives `partitioned` the indexes of `requests`. */
async function indexAlike(owner: Sql): Promise<void> {
  const indexes = await owner<{ definition: string; columns: string[] }[]>`
    select pg_get_indexdef(indexrelid) as definition,
      array(select attname::text from pg_attribute where attrelid = indexrelid) as columns
    from pg_index where indrelid = 'requests'::regclass and 'partner_id' in
      (select attname from pg_attribute where attrelid = indexrelid)`;
  for (const { definition, columns } of indexes) {
    const alike = definition.replace(/INDEX \S+ ON \S+/, 'INDEX ON partitioned');
    await owner.unsafe(columns.includes('id') ? alike : alike.replace('UNIQUE ', ''));
  }
}

type Table = 'whole' | 'partitioned';
/** A statement about the request that was picked as number `place`. */
type Statement = (table: Table, place: number) => string;
/** A task with requests, and a script of pgbench that does it `picked` times. */
export type Task = { what: string; stores: boolean; script(table: Table): string };

/** The service's most frequent tasks with requests. */
export async function tasksOf(owner: Sql): Promise<Task[]> {
  const names = await columnsOf(owner);
  const fresh: Record<string, string> = {
    ...{ id: 'made.id', idempotency_key: 'made.key' },
    created_at: `clock_timestamp() + random() * interval '1 hour'`,
  };
  const values = names.map((name) => fresh[name] ?? `r.${name}`);
  const scope = (place: number) => `partner_id = :p${place}::uuid and test_mode`;
  const one = (place: number) => `${scope(place)} and id = :i${place}::uuid`;
  const key = (place: number) => `${scope(place)} and account_id = :a${place}::uuid and idempotency_key = :k${place}`;
  const task = (what: string, statement: Statement, stores = false): Task => ({
    what,
    stores,
    script: (table) => repeated((place) => statement(table, place)),
  });
  return [
    task('read by its id', (table, place) => `select * from ${table} where ${one(place)}`),
    task('read by its idempotency key', (table, place) =>
      table === 'whole'
        ? `select * from whole where ${key(place)}`
        : `select * from partitioned where ${scope(place)} and id = (select request_id from registry where ${key(place)})`,
    ),
    task(
      'a page of the list since a time',
      (table, place) =>
        `select * from ${table} where ${scope(place)} and created_at >= :c${place}::timestamptz order by created_at limit 51`,
    ),
    task(
      'inserted',
      (table, place) => `with made as (select uuidv7() as id, gen_random_uuid()::text as key)${
        table === 'whole'
          ? ''
          : `, registered as (insert into registry values (:p${place}::uuid, true, :a${place}::uuid,
          (select key from made), (select id from made)))`
      } insert into ${table} (${names.join(', ')}) select ${values.join(', ')}
        from made, whole r where r.partner_id = :p${place}::uuid and r.test_mode and r.id = :i${place}::uuid`,
      true,
    ),
    task('changed', (table, place) => `update ${table} set opened_at = clock_timestamp() where ${one(place)}`),
    task(
      'named by a row that refers to it',
      (table, place) => `insert into ${table}_children values (:p${place}::uuid, true, :i${place}::uuid)`,
    ),
  ];
}

/** A script that picks requests and does something to each. */
function repeated(statement: (place: number) => string): string {
  const places = Array.from({ length: picked }, (_, place) => place);
  const columns = places.flatMap((place) =>
    ['p', 'i', 'a', 'k', 'c'].map((name) => `(array_agg(${name}))[${place + 1}] as ${name}${place}`),
  );
  return [
    `\\set n random(0, ${picks - 1})`,
    `select ${columns.join(', ')} from picks where n = :n \\gset`,
    ...places.map((place) => `${statement(place).replace(/\s+/g, ' ')};`),
    '',
  ].join('\n');
}
