import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../src/lib/ports.ts';
import { send } from '../api/client.ts';
import { until } from '../until.ts';

const programs = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'];

/** The path of HAProxy; null where it is not installed. */
export const findHaproxy = (): string | null => programs.find((path) => existsSync(path)) ?? null;

/** The load balancer of docs/operating.md in front of nodes, probing more often so that tests need not wait. */
export async function startBalancer(nodePorts: readonly number[]): Promise<{ url: string; stop(): Promise<void> }> {
  const program = findHaproxy();
  if (!program) throw new Error('These tests need haproxy: apt-get install haproxy');
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'quittance-balancer-'));
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration(port, nodePorts));
  const child = spawn(program, ['-db', '-f', file], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    send(url, 'GET', '/healthz').then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(async () => child.exitCode !== null || (await answers()), 'the load balancer to answer');
  return {
    url,
    stop: async () => {
      await endOf(child);
      rmSync(folder, { recursive: true });
    },
  };
}

function endOf(child: ChildProcess): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  return child.exitCode === null ? ended : Promise.resolve();
}

const configuration = (port: number, nodePorts: readonly number[]) => `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  retries 3
  retry-on conn-failure
  option redispatch
listen quittance
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /readyz
  timeout check 5s
  default-server check inter 200ms fall 2 rise 1
${nodePorts.map((nodePort, index) => `  server node${index} 127.0.0.1:${nodePort}\n`).join('')}`;
