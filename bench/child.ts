import { fork } from 'node:child_process';
import { join } from 'node:path';

/** A process of the benchmark, listening on loopback. */
export type Child = { origin: string; pid: number; stop(): Promise<void> };

/** Starts `bench/<file>`, which reports its port on the IPC channel and exits when the channel closes. */
export function startChild(file: string, env: Record<string, string>, execArgv: string[] = []): Promise<Child> {
  const child = fork(join(import.meta.dirname, file), { env: { ...process.env, ...env }, execArgv });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`bench/${file} did not start`)), 20_000);
    child.once('exit', (code) => reject(new Error(`bench/${file} ended with ${code}`)));
    child.once('message', ({ port }: { port: number }) => {
      clearTimeout(timer);
      const stop = async () => {
        if (child.connected) child.disconnect();
        await exited;
      };
      resolve({ origin: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop });
    });
  });
}
