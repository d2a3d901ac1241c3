import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { pause } from '../../src/lib/time.ts';
import { type Service, startService } from '../support/service.ts';

const startTries = 40;

/** A process of the service that is started again whenever it was killed, as an operator's supervisor does. */
export type FaultyNode = {
  url: string;
  /** False while it is down. */
  isUp(): boolean;
  /** The newest lines of its log about what was our own fault. */
  log(): string;
  /** The newest lines of its log since it was started. */
  lastLines(most: number): string;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it in its tracks; `thaw` lets it go on as if nothing had been. */
  freeze(): void;
  thaw(): void;
  /** Sets its clock ahead of the machine's, or back. */
  setClock(aheadMs: number): void;
  /** Changes its environment and restarts it, as an operator does: it is asked to stop, and finishes its work. */
  restartWith(changes: Record<string, string>): Promise<void>;
};

const isOurFault = (line: string) => line.includes('"route":') && !line.includes('"msg":"unavailable"');

/** @param onEnd called when a process ends that nobody killed */
export async function makeNode(
  name: string,
  env: Record<string, string>,
  folder: string,
  onEnd: (what: string) => void,
): Promise<FaultyNode> {
  const port = await freePort();
  const clockFile = join(folder, `clock-${name}`);
  writeFileSync(clockFile, '0');
  const preload = pathToFileURL(join(import.meta.dirname, 'moved-clock.ts')).href;
  const own: Record<string, string> = {
    ...env,
    PORT: String(port),
    MOVED_CLOCK: clockFile,
    NODE_OPTIONS: `--import=${preload}`,
  };
  let service: Service | null = null;
  let starting: Promise<void> | null = null;
  let killing = false;

  /** While the database is down it cannot start, and is tried again. */
  const begin = async () => {
    for (let attempt = 1; ; attempt++) {
      const made = await startService(own).catch((error: Error) => {
        if (attempt === startTries || error.message.includes('The configuration is invalid')) throw error;
        return null;
      });
      if (!made) {
        await pause(300);
        continue;
      }
      service = made;
      void made.ended.then(({ code, signal, stderr, stdout }) => {
        if (killing || service !== made) return;
        service = null;
        onEnd(`node ${name} ended by itself (${code ?? signal}): ${(stderr + stdout).slice(-2000)}`);
      });
      return;
    }
  };
  const stop = async (signal: NodeJS.Signals) => {
    await starting;
    if (!service) return;
    killing = true;
    await service.stop(signal).finally(() => {
      service = null;
      killing = false;
    });
  };
  const start = () => {
    starting ??= (service ? Promise.resolve() : begin()).finally(() => {
      starting = null;
    });
    return starting;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    isUp: () => service !== null,
    log: () => (service?.stdout() ?? '').split('\n').filter(isOurFault).slice(-3).join('\n'),
    lastLines: (most) => (service?.stdout() ?? '').split('\n').slice(-most).join('\n'),
    kill: () => stop('SIGKILL'),
    start,
    freeze: () => service && signalProcess(service.pid, 'SIGSTOP'),
    thaw: () => service && signalProcess(service.pid, 'SIGCONT'),
    setClock: (aheadMs) => {
      writeFileSync(clockFile, String(aheadMs));
      if (service) signalProcess(service.pid, 'SIGUSR2');
    },
    restartWith: async (changes) => {
      Object.assign(own, changes);
      await stop('SIGTERM');
      await start();
    },
  };
}
