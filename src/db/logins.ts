import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { StartFault } from '../lib/start-fault.ts';
import { pause } from '../lib/time.ts';
import { type Access, insufficientPrivilege, type Sql, sqlState, type Tx } from './connection.ts';
import { loginDefaults, type Settings } from './session-settings.ts';

/** A role that the service logs in as. */
export type Login = { name: string; password: string };
type Logins = { service: Login; scoped: Login; scopeKey: Buffer };

/**
 * The logins of an installation, derived from its newest secret. Every node and command knows them, and another
 * installation on the same server has different ones. A new secret makes new logins, while nodes with the old one keep
 * theirs.
 */
function loginsOf(secrets: SecretKey[]): Logins {
  const secret = newest(secrets);
  const hash = (text: string) => keyedHash(secret, 'database', text);
  const suffix = hash('name').toString('hex').slice(0, 12);
  const login = (kind: string) => ({
    name: `quittance_${kind}_${suffix}`,
    password: hash(`password ${kind}`).toString('hex'),
  });
  return { service: login('service'), scoped: login('scoped'), scopeKey: hash('scope') };
}

/** The address of the same database, with another user. */
function addressAs(url: string, { name, password }: Login): string {
  const address = new URL(url);
  // A URL without a host cannot contain a user name, so the user becomes a parameter.
  if (address.hostname) Object.assign(address, { username: name, password });
  else for (const [key, value] of Object.entries({ user: name, password })) address.searchParams.set(key, value);
  return address.href;
}

/**
 * The addresses with which the service logs in to a database, once `ensureLogins` has created the logins.
 *
 * @param sessionUrl if `url` leads to a pooler in transaction mode, an address of the server itself
 */
export function accessOf(url: string, secrets: SecretKey[], sessionUrl: string | null = null): Access {
  const { service, scoped, scopeKey } = loginsOf(secrets);
  const session = sessionUrl && addressAs(sessionUrl, service);
  return { service: addressAs(url, service), scoped: addressAs(url, scoped), scopeKey, session };
}

/** The groups of the logins, which hold the grants. Migrations create both. */
const groups = ['quittance_app', 'quittance_service'];

/**
 * SQLSTATEs that occur when two processes change the server's roles at once, including "tuple concurrently updated".
 */
const atOnce = ['23505', '42710', 'XX000', '40001', '40P01'];
const attempts = 20;
const attemptPauseMs = 50;

/**
 * As the owner: creates missing logins of these secrets, and grants them access. Roles belong to the whole server, so
 * processes of other databases may do the same at the same time.
 *
 * @param inDefaults whether to store the settings of our sessions as the logins' defaults, because a pooler sets none
 * @throws StartFault with instructions if the owner lacks a privilege
 */
export async function ensureLogins(owner: Sql, secrets: SecretKey[], inDefaults = false): Promise<void> {
  const logins = loginsOf(secrets);
  for (let attempt = 1; ; attempt++) {
    try {
      await owner.begin((tx) => grantLogin(tx, logins, inDefaults));
      break;
    } catch (error) {
      if (sqlState(error) === insufficientPrivilege) throw await asPermissionFault(owner, error);
      if (attempt === attempts || !atOnce.includes(sqlState(error) ?? '')) throw error;
      await pause(attemptPauseMs * Math.random());
    }
  }
  await refuseTableCreation(owner, logins.scoped);
}

/** As the owner: creates the groups before the tables whose grants name them, as migrations do in a new database. */
export async function createGroups(owner: Sql): Promise<void> {
  for (const group of groups) {
    await owner.unsafe(`do $$ begin
      if not exists (select from pg_roles where rolname = '${group}') then create role ${group} nologin; end if;
    exception when duplicate_object or unique_violation then null; -- another installer was faster
    end $$;
    do $$ begin execute format('grant ${group} to %I', current_user); end $$`);
  }
}

async function grantLogin(tx: Tx, { service, scoped, scopeKey }: Logins, inDefaults: boolean): Promise<void> {
  // The service login is in both groups, because its transactions can enter scopes.
  const members = { [service.name]: groups, [scoped.name]: ['quittance_app'] };
  const [here] = await tx<{ database: string }[]>`select quote_ident(current_database()) as database`;
  const database = here?.database;
  const defaults = { [service.name]: loginDefaults.service, [scoped.name]: loginDefaults.scoped };
  for (const { name, password } of [service, scoped]) {
    const [known] = await tx`select rolcanlogin from pg_roles where rolname = ${name}`;
    // The name contains only lower-case letters, digits and underscores, so it needs no quotes.
    if (!known) await tx.unsafe(`create role ${name} login password '${verifierOf(password)}'`);
    // A login can change its own defaults, which then apply to later sessions.
    const own = await tx<{ config: string[] | null }[]>`
      select case when s.setdatabase = 0 then s.setconfig end as config
      from pg_db_role_setting s join pg_roles r on r.oid = s.setrole where r.rolname = ${name}`;
    if (own.length > 1 || !areDefaults(own[0]?.config ?? [], defaults[name] ?? {})) {
      if (own.length > 0)
        await tx.unsafe(`alter role ${name} reset all; alter role ${name} in database ${database} reset all`);
      if (inDefaults) await tx.unsafe(defaultsOf(name, defaults[name] ?? {}));
    }
    for (const group of members[name] ?? []) {
      const [held] = await tx`
        select from pg_auth_members m where m.roleid = ${group}::regrole and m.member = ${name}::regrole`;
      if (!held) await tx.unsafe(`grant ${group} to ${name}`);
    }
    await tx`
      insert into scope_keys (login, inner_pad, outer_pad)
      values (${name}, ${padOf(scopeKey, 0x36)}, ${padOf(scopeKey, 0x5c)}) on conflict do nothing`;
  }
  // A temporary table would hide one of ours for everything later in the session.
  const [temporary] = await tx<{ statement: string; open: boolean }[]>`
    select format('revoke temporary on database %I from public', current_database()) as statement,
      has_database_privilege(${scoped.name}, current_database(), 'temporary') as open`;
  if (temporary?.open) await tx.unsafe(temporary.statement);
}

const defaultsOf = (login: string, settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `alter role ${login} set ${name} = '${value}'`)
    .join('; ');

/** @param config as PostgreSQL stores them: `TimeZone=UTC` */
function areDefaults(config: string[], settings: Settings): boolean {
  const stored = new Map(config.map((text) => [text.slice(0, text.indexOf('=')).toLowerCase(), text]));
  const wanted = Object.entries(settings);
  return (
    stored.size === wanted.length &&
    wanted.every(([name, value]) => stored.get(name)?.slice(name.length + 1) === `${value}`)
  );
}

/**
 * The SCRAM-SHA-256 verifier that PostgreSQL stores for a password. With it, the password itself appears in no
 * statement and no log.
 */
function verifierOf(password: string): string {
  const [salt, rounds] = [randomBytes(16), 4096];
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256');
  const keyOf = (what: string) => createHmac('sha256', salted).update(what).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}

/** The 64 bytes of an HMAC-SHA256's inner or outer pad for a key. */
function padOf(key: Uint8Array, byte: number): Buffer {
  return Buffer.from(Array.from({ length: 64 }, (_, at) => (key[at] ?? 0) ^ byte));
}

/**
 * Refuses to start if a login may create tables. Only the owner of the database or of the schema can revoke that; the
 * owner of the tables may be neither.
 */
async function refuseTableCreation(owner: Sql, { name }: Login): Promise<void> {
  const [open] = await owner<{ temporary: boolean; schema: boolean; database: string }[]>`
    select has_database_privilege(${name}, current_database(), 'temporary') as temporary,
      has_schema_privilege(${name}, 'public', 'create') as schema, quote_ident(current_database()) as database`;
  const statements = [
    ...(open?.temporary ? [`revoke temporary on database ${open.database} from public`] : []),
    ...(open?.schema ? ['revoke create on schema public from public'] : []),
  ];
  if (statements.length === 0) return;
  throw new StartFault(
    `The service’s logins could create tables. Run as the owner of the database: ${statements.join('; ')};`,
  );
}

/**
 * The instructions for an owner who lacks a privilege, built from the database's error.
 *
 * @returns any other error unchanged
 */
export async function asPermissionFault(owner: Sql, error: unknown): Promise<unknown> {
  if (sqlState(error) !== insufficientPrivilege) return error;
  const [me] = await owner<{ name: string; database: string }[]>`
    select quote_ident(current_user) as name, quote_ident(current_database()) as database`;
  return new StartFault(
    `The owner of the tables, ${me?.name}, may not prepare the database (${(error as Error).message}). As an administrator of the server: alter database ${me?.database} owner to ${me?.name}; alter role ${me?.name} createrole; and where another role made them first: grant quittance_app, quittance_service to ${me?.name} with admin option; or, where it may not create roles, what \`bin/quittance logins --owner ${me?.name}\` prints.`,
    { cause: error },
  );
}

/**
 * The statements that an administrator must run if the owner may not create roles.
 *
 * @param owner the owner's name
 * @param inDefaults as `ensureLogins` takes it
 */
export function statementsFor(owner: string, secrets: SecretKey[], inDefaults: boolean): string[] {
  const { service, scoped } = loginsOf(secrets);
  return [
    ...groups.map((name) => `create role ${name} nologin;`),
    `grant ${groups.join(', ')} to "${owner.replaceAll('"', '""')}" with admin option;`,
    ...[service, scoped].map(({ name, password }) => `create role ${name} login password '${verifierOf(password)}';`),
    ...(inDefaults
      ? [defaultsOf(service.name, loginDefaults.service), defaultsOf(scoped.name, loginDefaults.scoped)]
      : []),
  ];
}

/** The privileges that a login must not have; `powers` is empty if row-level security binds it and it owns no table. */
export async function permissionsOf(sql: Sql): Promise<{ name: string; powers: string[] }> {
  const [row] = await sql<{ name: string; is_super: boolean; bypasses: boolean; owns: boolean }[]>`
    select session_user as name, r.rolsuper as is_super, r.rolbypassrls as bypasses, exists (
      select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        and pg_has_role(session_user, c.relowner, 'member')) as owns
    from pg_roles r where r.rolname = session_user`;
  const powers = [
    ...(row?.is_super ? ['is a superuser'] : []),
    ...(row?.bypasses ? ['bypasses row-level security'] : []),
    ...(row?.owns ? ['owns tables'] : []),
  ];
  return { name: row?.name ?? '', powers };
}
