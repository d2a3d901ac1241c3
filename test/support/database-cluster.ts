import { execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beginningOf, signalProcess } from '../../src/lib/processes.ts';
import { removeFolder } from './folders.ts';
import { findHaproxy } from './net/haproxy.ts';
import { startProxy } from './net/proxy.ts';
import { until } from './until.ts';

const run = promisify(execFile);
const templates = join(import.meta.dirname, '../../ops/ha');
const programs = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
};
const nobody = 65534;
/** PostgreSQL refuses root. */
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** The Debian packages that a database cluster needs and that are not installed. */
export function missingPackages(): string[] {
  const missing = Object.entries(programs).filter(([, path]) => !existsSync(path));
  return [...missing.map(([name]) => name), ...(findHaproxy() ? [] : ['haproxy'])];
}

/** A machine's server, as Patroni's REST API reports it. */
export type Member = { name: string; role: string; state: string };

/** What runs on one machine: etcd, Patroni and PostgreSQL. */
export type Machine = {
  name: string;
  /** Its own address, as haproxy reaches its server. */
  address: string;
  start(): Promise<void>;
  /** Kills etcd, Patroni and PostgreSQL at once (SIGKILL). */
  kill(): void;
  /** Cuts its Patroni off from etcd, and the machine off from the others, like a failing switch. haproxy reaches it. */
  cut(): void;
  mend(): void;
};

export type DatabaseCluster = {
  machines: readonly Machine[];
  /** The certificate of their authority, for NODE_EXTRA_CA_CERTS. */
  authority: string;
  /** The address of a database behind haproxy. */
  url(user: string, password: string, database: string): string;
  /** As the superuser: behind haproxy, or at one machine. */
  adminUrl(database: string, at?: Machine): string;
  members(): Promise<Member[]>;
  /** The machines whose Patroni says that it leads. */
  leaders(): Promise<Machine[]>;
  /** Waits until one leads, one follows synchronously and one more follows. */
  untilWhole(): Promise<void>;
  /** Runs patronictl with Patroni's own configuration. */
  control(...words: string[]): Promise<string>;
  logs(): string;
  stop(): Promise<void>;
};

const wholeLimitMs = 300_000;

/** Three machines with the configuration of `ops/ha`, each on its own loopback addresses, and haproxy in front. */
export async function startDatabaseCluster(): Promise<DatabaseCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-cluster-'));
  /** Ends all processes at once; returns their ids. */
  let endAll = (): number[] => [];
  const remove = () => {
    if (!process.env.KEEP_CLUSTER) removeFolder(folder);
  };
  // Tests that fail, or are killed, do not get to stop the cluster.
  process.once('SIGTERM', () => process.exit(143));
  process.once('exit', () => {
    endAll();
    remove();
  });
  const network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  const common = { folder, network, tls: makeCertificate(folder, network), passwords: [secret(), secret()] as const };
  const machines = await Promise.all(names.map((name, index) => prepareMachine(common, name, index)));
  const haproxy = { DATABASE: `${network}.1`, TLS: common.tls, ...addressesOf(machines) };
  const balancing = fill(folder, 'haproxy.cfg', haproxy);
  give(folder);
  const balancer = launch(folder, 'haproxy', [findHaproxy() ?? '', '-db', '-f', balancing]);
  endAll = () => {
    endAll = () => [];
    balancer.kill('SIGKILL');
    return machines.flatMap((machine) => machine.end());
  };
  await Promise.all(machines.map((machine) => machine.start()));

  /** The machines whose Patroni holds the leader key, as it is asked by haproxy. */
  const leaders = async () => {
    const answers = await Promise.all(machines.map(({ address }) => ask(address, 8008, '/primary', common.tls)));
    return machines.filter((_, at) => answers[at]?.status === 200);
  };
  const members = async () => {
    const [leader] = await leaders();
    const { text } = leader ? await ask(leader.address, 8008, '/cluster', common.tls) : { text: '' };
    return text ? (JSON.parse(text) as { members: Member[] }).members : [];
  };
  const cluster: DatabaseCluster = {
    machines,
    authority: join(common.tls, 'ca.crt'),
    url: (name, password, database) =>
      `postgres://${name}:${password}@${network}.1:5000/${database}?sslmode=verify-full`,
    adminUrl: (database, at) => {
      const host = at ? `${at.address}:5432` : `${network}.1:5000`;
      return `postgres://postgres:${common.passwords[0]}@${host}/${database}?sslmode=require`;
    },
    members,
    leaders,
    untilWhole: () => until(async () => isWhole(await members()), 'the three machines to work together', wholeLimitMs),
    control: async (...words) =>
      (await run('/usr/bin/patronictl', ['-c', join(folder, 'a/patroni.yml'), ...words], { env: plainEnv(folder) }))
        .stdout,
    logs: () => names.map((name) => readFileSync(join(folder, name, 'patroni.log'), 'utf8')).join('\n'),
    stop: async () => {
      const pids = endAll();
      await until(() => pids.every((pid) => beginningOf(pid) === null), 'the machines to stop');
      remove();
    },
  };
  try {
    await cluster.untilWhole();
  } catch (error) {
    const logs = cluster.logs();
    await cluster.stop();
    throw new Error(logs.slice(-4_000), { cause: error });
  }
  return cluster;
}

const names = ['a', 'b', 'c'];
const secret = () => randomBytes(12).toString('hex');
const isWhole = (members: Member[]) => {
  const roles = members.filter(({ state }) => state === 'running').map(({ role }) => role);
  return roles.sort().join() === 'leader,replica,sync_standby';
};
const plainEnv = (home: string) => ({ PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' });
const addressesOf = (machines: readonly { name: string; address: string }[]) =>
  Object.fromEntries(machines.map(({ name, address }) => [`NODE_${name.toUpperCase()}`, address]));

type Common = { folder: string; network: string; tls: string; passwords: readonly [string, string] };

/** A certificate for all addresses that is its own authority. */
function makeCertificate(folder: string, network: string): string {
  const tls = join(folder, 'tls');
  mkdirSync(tls);
  const names = ['127.0.0.1', `${network}.1`, ...[11, 12, 13, 21, 22, 23].map((last) => `${network}.${last}`)];
  const subject = ['-subj', '/CN=quittance', '-addext', `subjectAltName=${names.map((ip) => `IP:${ip}`).join()}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', join(tls, 'node.key')];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, '-out', join(tls, 'node.crt')], {
    stdio: 'pipe',
  });
  writeFileSync(join(tls, 'ca.crt'), readFileSync(join(tls, 'node.crt')));
  return tls;
}

/** A file of `ops/ha` with these settings filled in. */
function fill(folder: string, name: string, settings: Record<string, string>): string {
  const file = join(folder, name);
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(`${file}.settings`, lines.join(''));
  writeFileSync(file, execFileSync(join(templates, 'fill'), [`${file}.settings`, join(templates, name)]));
  return file;
}

/** Gives a folder to the user that the servers run as. */
function give(folder: string): void {
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
}

function launch(folder: string, name: string, [file = '', ...args]: string[], more: Record<string, string> = {}) {
  const log = openSync(join(folder, `${name}.log`), 'a');
  const env = { ...plainEnv(folder), ...more };
  const child = spawn(file, args, { stdio: ['ignore', log, log], cwd: folder, env, ...user });
  closeSync(log);
  return child;
}

const etcdOf = (network: string, index: number) => `${network}.${11 + index}`;

/**
 * One machine: its servers open one address, and other machines reach them by another, which can be cut; so can its way
 * to each etcd.
 */
async function prepareMachine({ folder, network, tls, passwords }: Common, name: string, index: number) {
  const home = join(folder, name);
  mkdirSync(home);
  chmodSync(folder, 0o755);
  const [address, reached] = [`${network}.${11 + index}`, `${network}.${21 + index}`];
  const ways = await Promise.all([
    ...[5432, 8008].map((port) => startProxy(`tcp://${address}:${port}`, { host: reached, port })),
    ...names.map((_, other) => startProxy(`tcp://${etcdOf(network, other)}:2379`)),
  ]);
  const etcds = ways.slice(2).map(({ url }) => `127.0.0.1:${new URL(url).port}`);
  // By these ways only: etcd would name its own addresses.
  const cuttable = { PATRONI_ETCD_HOSTS: etcds.join(), PATRONI_ETCD_USE_PROXIES: 'true' };
  const settings = {
    NODE: name,
    LISTEN: address,
    TLS: tls,
    FOLDER: home,
    ETCD_FOLDER: join(home, 'etcd'),
    ETCD_HOSTS: names.map((_, other) => `${etcdOf(network, other)}:2379`).join(),
    ETCD_MEMBERS: names.map((other, at) => `${other}=https://${etcdOf(network, at)}:2380`).join(),
    NETWORK: '127.0.0.0/8',
    WATCHDOG: 'off',
    SUPERUSER_PASSWORD: passwords[0],
    REPLICATION_PASSWORD: passwords[1],
  };
  const files = {
    etcd: fill(home, 'etcd.yml', { ...settings, ADDRESS: address }),
    patroni: fill(home, 'patroni.yml', { ...settings, ADDRESS: reached }),
  };
  let running: ReturnType<typeof launch>[] = [];
  const kill = (signal: NodeJS.Signals): number[] => {
    const [own, server] = [running.map(({ pid }) => pid as number), serverOf(home)];
    for (const child of running) child.kill('SIGKILL');
    for (const pid of server) signalProcess(pid, signal);
    running = [];
    return [...own, ...server];
  };
  return {
    name,
    address,
    start: async () => {
      running = [launch(home, 'etcd', [programs['etcd-server'], '--config-file', files.etcd])];
      await until(
        async () => /"etcdcluster":"3\.4/.test((await ask(address, 2379, '/version', tls)).text),
        'etcd to have a quorum',
      );
      running.push(launch(home, 'patroni', [programs.patroni, files.patroni], cuttable));
    },
    kill: () => void kill('SIGKILL'),
    cut: () => {
      for (const way of ways) way.behave('silent');
    },
    mend: () => {
      for (const way of ways) {
        way.disconnect();
        way.behave('forward');
      }
    },
    end: () => {
      for (const way of ways) way.close();
      return kill('SIGQUIT'); // it frees its shared memory
    },
  };
}

/** The processes of a machine's PostgreSQL. The postmaster, which would notice that others ended, comes first. */
function serverOf(home: string): number[] {
  const file = join(home, 'data/postmaster.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
  if (!(pid > 0) || !existsSync(`/proc/${pid}`)) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** An answer of etcd or Patroni; status 0 when there is none, because it is down or starting. */
async function ask(host: string, port: number, path: string, tls: string): Promise<{ status: number; text: string }> {
  const [ca, cert, key] = ['ca.crt', 'node.crt', 'node.key'].map((name) => readFileSync(join(tls, name)));
  const request = get({ host, port, path, ca, cert, key, timeout: 3_000, agent: false });
  request.on('timeout', () => request.destroy());
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, text: await readText(response) };
  } catch {
    return { status: 0, text: '' };
  }
}
