import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../src/lib/ports.ts';
import { pause } from '../src/lib/time.ts';
import { startDevChains } from '../src/sandbox/chain.ts';
import { benchEnv, type Stage } from './stage.ts';

const root = join(import.meta.dirname, '..');
const startLimitMs = 120_000;

/** The service as an operator starts it. `readySeconds`: from the start of the process to its first ready answer. */
export type ServiceProcess = { origin: string; child: ChildProcess; readySeconds: number; stop(): Promise<void> };

/** The settings of a production service on this database, with two local chains that run until the stage is cleared. */
export async function productionEnv(stage: Stage, databaseUrl: string) {
  const folder = join(stage.folder, 'dev');
  const dev = await startDevChains(folder);
  stage.onEnd(dev.stop);
  const port = await freePort();
  const env = {
    ...benchEnv(stage, databaseUrl),
    CHAINS_FILE: join(folder, 'chains.json'),
    ...{ NODE_ENV: 'production', BASE_URL: `http://localhost:${port}`, PORT: String(port), RATE_PROVIDERS: 'fixed' },
    ...{ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1', DRAIN_SECONDS: '0' },
  };
  return { env, chains: dev.chains };
}

/** The arguments of `npm start`. */
function startArguments(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return (scripts.start as string).split(' ').slice(1);
}

/** Runs `npm start` as a process, and waits until it is ready. The process is stopped when the stage is cleared. */
export async function startProcess(stage: Stage, env: Record<string, string>, preload?: string) {
  const args = [...(preload ? [`--import=${join(import.meta.dirname, preload)}`] : []), ...startArguments()];
  const origin = env.BASE_URL as string;
  const startedAt = performance.now();
  const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: [...stdio],
    env: { PATH: process.env.PATH, ...env },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  stage.onEnd(stop);
  while (!(await isReady(origin))) {
    const tooLate = performance.now() - startedAt > startLimitMs;
    if (child.exitCode !== null || tooLate) throw new Error(`it did not start: ${child.exitCode ?? 'too late'}`);
    await pause(20);
  }
  return { origin, child, readySeconds: (performance.now() - startedAt) / 1000, stop } satisfies ServiceProcess;
}

const isReady = (origin: string) =>
  fetch(`${origin}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );

const megabytes = (kibibytes: string | undefined) => Math.round((Number(kibibytes) * 1024) / 1e6);

/** The resident memory of a process now and its maximum so far, in megabytes, as Linux counts it. */
export function memoryOf({ child }: Pick<ServiceProcess, 'child'>): { nowMb: number; maxMb: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const value = (name: string) => megabytes(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { nowMb: value('VmRSS'), maxMb: value('VmHWM') };
}
