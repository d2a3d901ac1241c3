import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService, withAuditIn } from '../../src/audit/write.ts';
import { connect, type Database, type Scope, type Tx } from '../../src/db/connection.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { identifiers } from '../../src/db/sql.ts';
import { testContext } from '../support/app.ts';
import { openOne, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, testSecrets } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
/** One connection per login, so that state left in a session meets the next transaction. */
let db: Database;
let own: Scope;
let others: { scope: Scope; merchant: { id: string; wallet: string }; requestId: string }[];
let ownMerchant: { id: string; wallet: string };

before(async () => {
  database = await testDatabase();
  db = connect(database.access, { service: 1, scoped: 1 });
  const [one, two] = [await makePartner(database.db), await makePartner(database.db)];
  own = one.test;
  ownMerchant = await makeMerchant(database.db, own);
  await makeRequest(database.db, own, ownMerchant);
  others = await Promise.all(
    [one.live, two.test, two.live].map(async (scope) => {
      const merchant = await makeMerchant(database.db, scope);
      return { scope, merchant, requestId: (await makeRequest(database.db, scope, merchant)).id };
    }),
  );
});
after(async () => {
  await db?.close();
  await database?.drop();
});

/** All rows of all tables that belong to a partner, as the owner sees them. */
async function foreignRows(): Promise<string> {
  const tables = await database.owner<{ name: string; by_mode: boolean }[]>`
    select c.relname as name, exists (
      select from pg_attribute m where m.attrelid = c.oid and m.attname = 'test_mode' and m.attnotnull) as by_mode
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'partner_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`;
  const parts: string[] = [];
  for (const { name, by_mode } of tables) {
    const [row] = await database.owner`
      select coalesce(string_agg(t::text, E'\n' order by t::text), '') as text from ${identifiers(name)} t
      where partner_id <> ${own.partnerId} ${by_mode ? database.owner`or not test_mode` : database.owner``}`;
    parts.push(`${name}\n${row?.text}`);
  }
  return parts.join('\n');
}

/** Runs SQL text in a transaction of a scope, as an injection would. Returns the outcome as text. */
async function inject(text: string, scope: Scope = own): Promise<{ answer: string; code: string | null }> {
  try {
    const rows = await db.scoped(scope, (tx) => tx.unsafe(text));
    return { answer: JSON.stringify(rows), code: null };
  } catch (error) {
    return { answer: '', code: (error as { code?: string }).code ?? String(error) };
  }
}

/** The same as the one statement of a read, which is prepared: the text takes the place of a list's. */
async function injectRead(text: string, scope: Scope = own): Promise<{ answer: string; code: string | null }> {
  try {
    const rows = await db.read(scope, (sql) => sql(Object.assign([text], { raw: [text] })));
    return { answer: JSON.stringify(rows), code: null };
  } catch (error) {
    return { answer: '', code: (error as { code?: string }).code ?? String(error) };
  }
}

/** Values that reveal another partner or mode. */
const foreign = () => others.flatMap(({ merchant, requestId }) => [merchant.id, merchant.wallet, requestId]);

/** Ways out of a scope: SQL that runs before the rows are read. */
const ways = (): Record<string, string> => {
  const [live, second] = others.map(({ scope }) => scope) as [Scope, Scope];
  const guessed = createHmac('sha256', Buffer.alloc(32, 7)).update(`${second.partnerId} true`).digest('hex');
  const enter = (scope: Scope, proof: string) =>
    `select enter_scope('${scope.partnerId}', ${scope.testMode}, ${proof})`;
  return {
    'nothing but the look': 'select 1',
    'reset role': 'reset role',
    'set role none': 'set role none',
    'set role to the group': 'set role quittance_service',
    'set role to the service’s login': `set role ${new URL(database.access.service).username}`,
    'set role to the owner': 'set role quittance',
    'set session authorization': 'set session authorization quittance',
    'set session authorization of the service': `set session authorization ${new URL(database.access.service).username}`,
    'reset session authorization': 'reset session authorization; reset role',
    'set_config of the role': `select set_config('role', 'none', false)`,
    'set_config of the role, the owner': `select set_config('role', 'quittance', true)`,
    'set_config of the partner': `select set_config('quittance.partner_id', '${second.partnerId}', true)`,
    'set_config of the mode': `select set_config('quittance.test_mode', 'false', true)`,
    'set_config of all': `reset role; select set_config('quittance.partner_id', '${second.partnerId}', true),
      set_config('quittance.test_mode', 'true', true), set_config('quittance.proof', '${guessed}', true)`,
    'row_security off': 'set row_security = off',
    'enter_scope with the proof of its own': enter(second, `current_setting('quittance.proof')`),
    'enter_scope of the other mode': enter(live, `current_setting('quittance.proof')`),
    'enter_scope with a guessed proof': enter(second, `'${guessed}'`),
    'enter_scope with nothing': enter(second, 'null'),
    'enter_scope with no hex': enter(second, `'zz'`),
    leave_scope: 'select leave_scope()',
    'the key': 'table scope_keys',
    'the key by copy': 'copy scope_keys to stdout',
    'alter table': 'alter table requests no force row level security, disable row level security',
    'disable triggers': 'alter table audit_log disable trigger all',
    'drop policy': 'drop policy scope on requests',
    'create policy': 'create policy mine on requests using (true)',
    'own a table': 'alter table requests owner to current_user',
    'grant oneself': 'grant quittance_service to current_user',
    'grant all': 'grant all on all tables in schema public to current_user',
    'more powers': 'alter role current_user bypassrls',
    superuser: 'alter role current_user superuser',
    'a DO block': `do $x$ begin perform set_config('role', 'none', true); execute 'reset role';
      execute 'set row_security = off'; end $x$`,
    'a function of its own': `create function public.mine() returns text security definer language sql as 'select 1::text'`,
    'another enter_scope': `create or replace function public.enter_scope(partner uuid, test boolean, proof text)
      returns void language sql as 'select'`,
    'a temporary table': 'create temp table requests as select 1 as mine',
    'a temporary view': 'create temp view requests as select 1 as mine',
    'a temporary function': `create function pg_temp.scope_partner() returns uuid language sql as 'select gen_random_uuid()'`,
    'a table of its own': 'create table public.mine ()',
    'a schema of its own': 'create schema mine; create table mine.requests (); set search_path = mine',
    'a trigger': `create trigger mine before insert on requests for each row execute function note_underpaid()`,
    'a rule': 'create rule mine as on insert to requests do also select 1',
    'an extension': 'create extension dblink',
    'a program': `copy (select 1) to program 'id'`,
    replication: 'set session_replication_role = replica',
    'event trigger': 'create event trigger mine on ddl_command_start execute function note_underpaid()',
    'commit and go on': 'commit; reset role; begin',
    'commit and reset all': 'commit; reset all; reset role; discard all',
  };
};

/** The tables to read, each on its own, because a refused one ends the transaction. */
const looks = ['requests', 'merchants', 'wallets', 'amount_reservations', 'watched_wallets', 'partner_clocks'];

test('SQL text in a scope’s transaction › reads and writes nothing of another partner or mode, whatever comes before', async () => {
  const before = await foreignRows();
  const { answer: seen } = await inject('select id from merchants');
  assert.deepEqual(JSON.parse(seen), [{ id: ownMerchant.id }], 'its own it sees');
  for (const [name, way] of Object.entries(ways())) {
    for (const table of looks) {
      const { answer } = await inject(`${way}; select to_json(t)::text as row from ${table} t;`);
      for (const word of foreign()) assert.ok(!answer.includes(word), `${name} → read ${table}: ${answer}`);
      await inject(`${way}; delete from ${table} where partner_id <> '${own.partnerId}' or not test_mode`);
    }
    await inject(
      `${way}; update merchants set business_name = 'mine' where partner_id <> '${own.partnerId}' or not test_mode`,
    );
    await inject(
      `${way}; update requests set wallet_address = '0x1', partner_id = '${own.partnerId}', test_mode = true`,
    );
    for (const { scope } of others) {
      await inject(`${way}; insert into partner_clocks values ('${scope.partnerId}', ${scope.testMode}, now())
        on conflict (partner_id, test_mode) do update set last_at = '2100-01-01Z'`);
      await inject(`${way}; insert into mails (id, recipient, subject, body, partner_id, test_mode)
        values (gen_random_uuid(), 'a@example.com', '', '', '${scope.partnerId}', ${scope.testMode})`);
    }
    assert.equal(await foreignRows(), before, `${name} → written`);
  }
});

test('SQL text in place of a read’s statement › reads and writes nothing of another partner or mode, nor what follows it', async () => {
  const before = await foreignRows();
  const look = (table: string) => `select to_json(t)::text as row from ${table} t`;
  for (const [name, way] of Object.entries(ways())) {
    await injectRead(way);
    for (const table of looks) {
      const { answer } = await injectRead(look(table));
      for (const word of foreign()) assert.ok(!answer.includes(word), `${name} → read ${table}: ${answer}`);
    }
    const { answer: seen } = await injectRead('select id from merchants');
    assert.deepEqual(JSON.parse(seen || '[]'), [{ id: ownMerchant.id }], `${name}: its own it sees`);
    await injectRead(
      `with gone as (delete from merchants where id <> '${ownMerchant.id}' returning 1) select from gone`,
    );
    const { scope, merchant } = others[1] as (typeof others)[0];
    const { answer: theirs } = await injectRead('select id from merchants', scope);
    assert.deepEqual(JSON.parse(theirs || '[]'), [{ id: merchant.id }], `${name}: the next scope sees its own`);
  }
  assert.equal(await foreignRows(), before);
});

test('a statement planted by a read › ends the session before the next proof is sent', async () => {
  const other = others[1] as (typeof others)[0];
  const sessionOf = async () => (await injectRead('select pg_backend_pid() as pid', other.scope)).answer;
  await sessionOf();
  const session = await sessionOf();
  assert.equal(await sessionOf(), session, 'one session serves the scopes, as long as nothing is planted');
  const planted = await injectRead(`do $x$ declare s record; begin
    for s in select name from pg_prepared_statements where statement like '%enter_scope%' and not from_sql loop
      execute format('deallocate %I', s.name);
      execute format('prepare %I (uuid, boolean, text) as select set_config(''mine.stolen'', $3, false)', s.name);
    end loop; end $x$`);
  assert.equal(planted.code, null);
  assert.notEqual(await sessionOf(), session);
  const left = await injectRead(`select current_setting('mine.stolen', true) as stolen,
    (select count(*)::int from pg_prepared_statements where from_sql) as planted`);
  assert.deepEqual(JSON.parse(left.answer), [{ stolen: null, planted: 0 }]);
});

test('a `select` in place of a read’s statement › plants none, whichever function it gives a text to run', async () => {
  const plant = `'prepare mine as select 1'`;
  const runs = [
    `query_to_xml(${plant}, true, true, '')`,
    `query_to_xmlschema(${plant}, true, true, '')`,
    `query_to_xml_and_xmlschema(${plant}, true, true, '')`,
    `(select count(*) from ts_stat(${plant}))`,
    `ts_rewrite('a', ${plant})`,
  ];
  for (const run of runs) {
    const planting = await injectRead(`select ${run}`);
    assert.notEqual(planting.code, null, run);
    await injectRead('select 1');
    const { answer } = await inject('select count(*)::int as planted from pg_prepared_statements where from_sql');
    assert.deepEqual(JSON.parse(answer), [{ planted: 0 }], run);
  }
});

test('a cursor that outlasts its transaction › is closed before the next scope has the session', async () => {
  const declared = 'declare mine cursor with hold for select id from merchants';
  for (const plant of [injectRead, inject]) {
    assert.equal((await plant(declared)).code, null);
    const { code } = await inject('fetch all from mine', others[1]?.scope);
    assert.equal(code, '34000', plant.name); // no such cursor
  }
});

test('one statement of a scope › the scope it changes on the way shows nothing else', async () => {
  const other = others[1] as (typeof others)[0];
  const set = `set_config('quittance.partner_id', '${other.scope.partnerId}', true),
    set_config('quittance.test_mode', 'false', true)`;
  for (const text of [
    `with a as materialized (select ${set}) select r.id from a, requests r`,
    `select r.id, m.id, ${set} from requests r cross join merchants m`,
    `select (select string_agg(id::text, ' ') from merchants), ${set}, (select string_agg(id::text, ' ') from requests)`,
    `select g, (${set}) is null, (select string_agg(id::text, ' ') from requests where g > 0) from generate_series(1, 3) g`,
  ]) {
    for (const { answer } of [await inject(text), await injectRead(text), await injectRead(text)])
      for (const word of foreign()) assert.ok(!answer.includes(word), answer);
  }
});

test('an act that is written into the log of its scope › its statements see and write nothing of others, and enter no other scope', async () => {
  const ctx = testContext(db);
  const second = others[1]?.scope as Scope;
  const act = {
    ...own,
    action: 'merchant.changed',
    object: { kind: 'merchant', id: ownMerchant.id },
    details: {},
  } as const;
  const before = await foreignRows();
  const seen = await withAuditIn(
    ctx,
    own,
    theService,
    async ({ db: inner }) => {
      await inner.sql.unsafe(`update merchants set business_name = 'mine'`);
      await assert.rejects(inner.scoped(second, (tx) => tx`select 1`));
      const way = `select leave_scope(); select set_config('role', 'none', true); select id from merchants`;
      const left = inner.transaction((tx) => tx.unsafe(way));
      return JSON.stringify([await inner.sql.unsafe('select id from merchants'), await left]);
    },
    () => null,
  );
  for (const word of foreign()) assert.ok(!seen.includes(word), seen);
  assert.equal(await foreignRows(), before);
  await withAuditIn(
    ctx,
    own,
    theService,
    async () => {},
    () => act,
  );
  const [logged] = await database.owner`select action from audit_log where object_id = ${ownMerchant.id}`;
  assert.equal(logged?.action, act.action);
});

/** The functions of the service that a login may call, and a value for each argument type. */
async function callable(as: string): Promise<{ name: string; definer: boolean; types: string[]; trigger: boolean }[]> {
  return database.owner`
    select p.proname as name, p.prosecdef as definer, p.prorettype = 'trigger'::regtype as trigger,
      array(select format_type(t, null) from unnest(p.proargtypes) t) as types
    from pg_proc p where p.pronamespace = 'public'::regnamespace and has_function_privilege(${as}, p.oid, 'execute')
      and not exists (select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e') order by p.proname`;
}

test('every function that a scope’s login may call › shows and changes nothing of others, with their names for arguments', async () => {
  const login = new URL(database.access.scoped).username;
  const functions = await callable(login);
  assert.deepEqual(
    functions.filter(({ definer }) => definer).map(({ name }) => name),
    [
      'find_by_email',
      'find_by_email_in_scope',
      'find_by_metadata',
      'find_by_value',
      'find_merchants',
      'free_amount',
      'free_unsigned_wallet',
      'scope_partner',
      'scope_test_mode',
    ],
    'a new one that runs as the owner is looked at first',
  );
  assert.deepEqual(
    functions.filter(({ trigger }) => trigger),
    [],
  );
  const other = others[1] as (typeof others)[0];
  await database.owner`update wallets set signed_at = null where address = ${other.merchant.wallet}`;
  const before = await foreignRows();
  const values: Record<string, string> = {
    uuid: `'${other.scope.partnerId}'`,
    boolean: 'true',
    text: `'${other.merchant.wallet}'`,
    numeric: '13586957',
    bigint: '1250',
    integer: '100',
    'integer[]': `'{0,1}'`,
    'text[]': `'{mail,phone}'`,
    json: `'{}'`,
    jsonb: `'{}'`,
    bytea: `'\\x00'`,
    interval: `'15 minutes'`,
    'timestamp with time zone': 'null',
    merchants: `(select m from merchants m limit 1)`,
  };
  for (const { name, types } of functions) {
    const unknown = types.filter((type) => !(type in values));
    assert.deepEqual(unknown, [], `${name}: a value for each kind of argument`);
    const { answer } = await inject(`select to_json(r)::text from ${name}(${types.map((type) => values[type])}) r`);
    for (const word of [...foreign(), other.merchant.wallet]) assert.ok(!answer.includes(word), `${name}: ${answer}`);
    assert.equal(await foreignRows(), before, name);
  }
  assert.equal((await inject(`select free_amount('${other.merchant.wallet}', 1)`)).code, '42501');
  assert.equal(
    (await inject(`select free_unsigned_wallet('${other.merchant.wallet}', null, null, null)`)).code,
    '42501',
  );
  const ids = `'${other.scope.partnerId}', true, '${randomUUID()}'`;
  assert.equal((await inject(`select * from create_merchant(${ids}, '{"business_name":"mine"}')`)).code, '42501');
});

test('a statement planted in the session › ends the session before the next scope is entered, which has a new one', async () => {
  const sessionOf = async ({ scope }: (typeof others)[0]) =>
    (await db.scoped(scope, (tx) => tx<{ pid: number }[]>`select pg_backend_pid() as pid`))[0]?.pid;
  const names = async (scope: Scope) =>
    db.scoped(
      scope,
      (tx: Tx) => tx<{ id: string }[]>`select id from merchants where id = ${others[1]?.merchant.id ?? ''}`,
    );
  const other = others[1] as (typeof others)[0];
  assert.equal((await names(other.scope)).length, 1);
  const session = await sessionOf(other);
  // Replaces each statement that the driver has prepared, to keep its parameters, including the proof.
  const planted = await inject(`do $x$ declare s record; begin
    for s in select p.name, (select string_agg(t::text, ', ') from unnest(p.parameter_types) t) as types,
        (select string_agg('$' || n, ', ') from generate_series(1, cardinality(p.parameter_types)) n) as numbers
      from pg_prepared_statements p where not p.from_sql and cardinality(p.parameter_types) > 0
    loop
      execute format('deallocate %I', s.name);
      execute format('prepare %I (%s) as select set_config(''mine.stolen'', concat(%s), false)', s.name, s.types, s.numbers);
    end loop; end $x$; set mine.kept = 'behind'`);
  assert.equal(planted.code, null);
  assert.equal((await names(other.scope)).length, 1, 'the next scope notices nothing');
  assert.notEqual(await sessionOf(other), session);
  const left =
    await inject(`select current_setting('mine.stolen', true) as stolen, current_setting('mine.kept', true) as kept,
    (select count(*) from pg_prepared_statements where from_sql) as planted, current_setting('datestyle') as style`);
  assert.deepEqual(JSON.parse(left.answer), [{ stolen: null, kept: null, planted: '0', style: 'ISO, MDY' }]);
});

test('a role, a lock and defaults left in the session › are reset, and the session serves the next scope', async () => {
  const lock = 'select pg_advisory_lock(7188254)';
  for (const left of [
    'set role quittance_app',
    lock,
    'listen changes',
    `reset role; alter role current_user set datestyle = 'German'`,
  ]) {
    assert.equal((await inject(left)).code, null, left);
    for (const { scope, merchant } of others) {
      const [row] = await db.scoped(scope, (tx) => tx`select created_at from merchants where id = ${merchant.id}`);
      assert.ok(row?.created_at instanceof Date && !Number.isNaN(row.created_at.getTime()), left);
    }
  }
  const held = await database.owner`
    select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;
  assert.equal(held.length, 0);
  const anew = connect(database.access, { service: 1, scoped: 1 });
  const [row] = await anew.scoped(own, (tx) => tx`select now() as now, current_setting('datestyle') as style`);
  await anew.close();
  assert.deepEqual([row?.now instanceof Date, row?.style], [true, 'ISO, MDY']);
  const login = new URL(database.access.scoped).username;
  await ensureLogins(database.owner, testSecrets);
  // Other tests on this server start services behind a pooler, which give the same login our own settings.
  const settings = await database.owner`
    select from pg_db_role_setting where setrole = (select oid from pg_roles where rolname = ${login})
      and 'German' = any(array(select split_part(set, '=', 2) from unnest(setconfig) set))`;
  assert.equal(settings.length, 0, 'the next start takes back what a login set for itself');
});

test('a planted statement behind a role that may not end the session › is never run with the proof of another scope', async () => {
  const [, second] = others as [(typeof others)[0], (typeof others)[0]];
  const read = () => db.scoped(second.scope, (tx) => tx<{ id: string }[]>`select id from merchants`);
  await read();
  const planted = await inject(`do $x$ declare s record; begin
      for s in select name from pg_prepared_statements where statement like '%enter_scope%' and not from_sql loop
        execute format('deallocate %I', s.name);
        execute format('prepare %I (uuid, boolean, text) as select pg_notify(''stolen'', $3)', s.name);
      end loop; end $x$; set role quittance_app`);
  assert.equal(planted.code, null);
  const stolen: string[] = [];
  const listening = Promise.withResolvers<void>();
  const unlisten = database.owner.listen('stolen', {
    onMessage: (proof) => stolen.push(proof),
    onListening: listening.resolve,
    onError: listening.reject,
  });
  await listening.promise;
  assert.ok((await read()).length > 0, 'a new session serves the scope');
  await database.owner`select pg_notify('stolen', 'nothing')`;
  await until(async () => stolen.includes('nothing'), 'what was sent before to be heard');
  unlisten();
  assert.deepEqual(stolen, ['nothing']);
});

test('settings left in the session › are reset before the next scope is entered', async () => {
  assert.equal(
    (await inject(`set datestyle = 'German'; set search_path = 'nowhere'; set statement_timeout = 1`)).code,
    null,
  );
  const next = await inject(`select current_setting('datestyle') as style, current_setting('search_path') as path`);
  assert.deepEqual(JSON.parse(next.answer), [{ style: 'ISO, MDY', path: 'public' }]);
});

test('a search path that leads elsewhere › the scope’s own rows are shown, and no others', async () => {
  const count = 'select count(*)::int as n from public.merchants';
  const { answer } = await inject(count);
  assert.match(answer, /"n":[1-9]/);
  for (const path of [`''`, 'pg_temp', 'public, pg_temp, pg_catalog', 'information_schema, public']) {
    const told = await inject(`set search_path = ${path}; ${count}`);
    assert.deepEqual([told.code, told.answer], [null, answer], path);
  }
});

test('the logins › own nothing, are bound by row-level security, and cannot make anything', async () => {
  for (const url of [database.access.service, database.access.scoped]) {
    const sql = openOne(url);
    const [row] = await sql`
      select r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, r.rolreplication,
        (select count(*)::int from pg_class c where pg_has_role(r.oid, c.relowner, 'member')) as owned,
        (select array_agg(g.rolname order by g.rolname) from pg_roles g
          where g.rolname <> r.rolname and pg_has_role(r.oid, g.oid, 'member')) as groups,
        has_database_privilege(current_database(), 'temporary') as temporary, has_schema_privilege('public', 'create') as makes
      from pg_roles r where r.rolname = session_user`;
    await sql.end();
    const scoped = url === database.access.scoped;
    assert.deepEqual(row, {
      ...{ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false },
      ...{ owned: 0, groups: scoped ? ['quittance_app'] : ['quittance_app', 'quittance_service'] },
      ...{ temporary: false, makes: false },
    });
  }
});

test('every table › denies by default, to its owner too; nobody at large may do anything', async () => {
  const open = await database.owner`
    select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)`;
  assert.deepEqual([...open], []);
  const policies = await database.owner`
    select c.relname from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and c.relname <> 'scope_keys' and (select count(*) from pg_policies p
        where p.schemaname = 'public' and p.tablename = c.relname and p.policyname in ('service', 'owner')) < 2`;
  assert.deepEqual([...policies], []);
  const publicly = await database.owner`
    select p.proname from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    where p.pronamespace = 'public'::regnamespace and a.grantee = 0 and not exists (select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`;
  assert.deepEqual([...publicly], []);
  // The tables without partner data that a scope may read. Each of them was checked.
  const shared = await database.owner<{ tablename: string }[]>`
    select tablename from pg_policies where schemaname = 'public' and 'quittance_app' = any(roles)
      and qual not like '%scope_partner%' order by tablename, policyname`;
  assert.deepEqual(
    shared.map(({ tablename }) => tablename),
    [
      'chain_blocks',
      'chain_cursors',
      'rate_overrides',
      'rates',
      'relay_accounts',
      'used_wallet_messages',
      'used_wallet_messages',
    ],
  );
});
