import { execFile, spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sql } from '../src/db/connection.ts';
import { planning } from '../src/db/session-settings.ts';
import { identifiers } from '../src/db/sql.ts';
import type { Child } from './child.ts';
import { idOf, shape } from './fixtures.ts';
import type { Arm } from './rounds.ts';
import { createBody, merchantOf } from './statements.ts';

export const clients = 16;
/** So many that groups of creates are full. */
export const manyClients = 64;
const merchantsOfPartner = shape.merchants / shape.partners;
export const names = {
  http: 'creates over HTTP',
  alone: 'the statement of one',
  together: 'the statement of sixteen',
  yardstick: 'bare insert',
  httpOfMany: `creates over HTTP, ${manyClients} clients`,
  yardstickOfMany: `bare insert, ${manyClients} clients`,
};

/**
 * Creates over HTTP, sent by wrk, which takes as little of the cores as pgbench does: clients on kept connections use the
 * keys in turn; none reaches its limit of 60 a minute. A call that is not answered 201 fails the run.
 *
 * @param connections how many clients
 */
export function httpArm(
  name: string,
  { origin }: Child,
  keys: string[],
  folder: string,
  connections: number = clients,
): Arm {
  const file = join(folder, 'creates.lua');
  let sent = 0;
  return {
    name,
    run: async (seconds) => {
      writeFileSync(file, createScript(keys, sent));
      const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', file, origin];
      const { stdout } = await promisify(execFile)('wrk', args, { timeout: (seconds + 20) * 1000 }).catch((error) => {
        if (error.code === 'ENOENT') throw new Error('wrk was not found: apt-get install wrk');
        throw error;
      });
      const [, count] = /^ *(\d+) requests in/m.exec(stdout) ?? [];
      const [, rate] = /^Requests\/sec: +([\d.]+)/m.exec(stdout) ?? [];
      if (!count || !rate || !/^not 201: 0$/m.test(stdout) || /Socket errors/.test(stdout))
        throw new Error(`wrk did not get through:\n${stdout}`);
      sent += Number(count) + connections;
      return Number(rate);
    },
  };
}

/** The script for wrk: each call has the next key, a random amount and a new idempotency key. */
function createScript(keys: string[], sent: number): string {
  const [account, amount, idempotencyKey] = ['@account@', 424_242, '@key@'];
  const body = JSON.stringify({ ...JSON.parse(createBody(0, amount, idempotencyKey)), account_id: account });
  const lua = Object.entries({ [account]: 'account', [amount]: 'math.random(100, 99999)', [idempotencyKey]: 'nonce' });
  const text = lua.reduce((filled, [mark, value]) => filled.replace(mark, `]] .. ${value} .. [[`), body);
  return `
local keys = { ${keys.map((key) => `"${key}"`).join(', ')} }
local accounts = { ${keys.map((_, key) => `{ ${accountsOf(key)} }`).join(', ')} }
local call = ${sent}
other = 0
local prefix = "${crypto.randomUUID()}-"
wrk.method = "POST"
function request()
  local key = call % #keys + 1
  local own = accounts[key]
  local account = own[math.floor(call / #keys) % #own + 1]
  local nonce = prefix .. call
  call = call + 1
  local headers = { ["authorization"] = "Bearer " .. keys[key], ["content-type"] = "application/json" }
  return wrk.format(nil, "/api/v1/requests/create", headers, [[${text}]])
end
function response(status)
  if status ~= 201 then other = other + 1 end
end
local threads = {}
function setup(thread) table.insert(threads, thread) end
function done()
  local all = 0
  for _, thread in ipairs(threads) do all = all + thread:get("other") end
  print("not 201: " .. all)
end
`;
}

/** The merchants of a key's partner, as strings of Lua. */
const accountsOf = (key: number) =>
  Array.from({ length: merchantsOfPartner }, (_, j) => `"${idOf('b', merchantOf(key, j))}"`).join(', ');

/** The newest pgbench on this machine, or null. */
export function findPgbench(): string | null {
  const found = [...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse(), 'pgbench'];
  return found.find((path) => spawnSync(path, ['--version']).status === 0) ?? null;
}

/** How pgbench connects: as the service does, with the settings of its connections. */
export function pgbenchLogin(databaseUrl: string): { connection: Record<string, string>; database: string } {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const login = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password };
  const settings = Object.entries(planning).map(([key, value]) => `-c ${key}=${value}`);
  return { connection: { ...login, PGOPTIONS: settings.join(' ') }, database: pathname.slice(1) };
}

/**
 * Repeats a script in several clients of pgbench, with prepared statements and the settings of the service's
 * connections.
 *
 * @param creates how many requests one run of the script creates
 */
export function pgbenchArm(
  name: string,
  databaseUrl: string,
  script: string,
  folder: string,
  { creates = 1, repeating = clients } = {},
): Arm {
  const program = findPgbench();
  if (!program) throw new Error('pgbench was not found: apt-get install postgresql');
  const file = join(folder, `${name.replaceAll(' ', '-')}.sql`);
  writeFileSync(file, script);
  const { connection, database } = pgbenchLogin(databaseUrl);
  return {
    name,
    run: async (seconds) => {
      const load = ['-c', String(repeating), '-j', '2', '-T', String(seconds), '-f', file];
      const options = { env: { ...process.env, ...connection }, timeout: (seconds + 20) * 1000 };
      const { stdout } = await promisify(execFile)(program, ['-n', '-M', 'prepared', ...load, database], options);
      const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
      if (!rate || !/failed transactions: 0 /.test(stdout)) throw new Error(`pgbench did not get through:\n${stdout}`);
      return Number(rate) * creates;
    },
  };
}

/** Checks that an arm stores rows, because a statement that stores nothing is fast too. */
export function countingRows(arm: Arm, owner: Sql, table: string): Arm {
  const count = async () => {
    const [row] = await owner<{ count: string }[]>`select count(*) from ${identifiers(table)}`;
    return Number(row?.count);
  };
  return {
    name: arm.name,
    run: async (seconds) => {
      const before = await count();
      const rate = await arm.run(seconds);
      const made = (await count()) - before;
      // A limit of 60 a minute stops a few of random keys, and pgbench first connects all its clients.
      if (made < 0.8 * rate * seconds) throw new Error(`${arm.name}: ${made} rows of ${Math.round(rate * seconds)}`);
      return rate;
    },
  };
}
