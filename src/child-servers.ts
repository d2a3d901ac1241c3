import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config.ts';
import type { EmbeddedPostgres } from './db/embedded.ts';
import { firstToEnd } from './lib/processes.ts';
import { RunFault } from './lib/start-fault.ts';
import type { DevChains } from './sandbox/chain.ts';

/** A server of the sandbox: its embedded database or a local chain. */
export type ChildServer = { name: string; pid: number; data: string; log: string; kept: string };

/** The servers that run for this service alone. If one ends, nothing else starts it again. */
export function childServersOf(
  { dataDir }: Pick<Config, 'dataDir'>,
  database: EmbeddedPostgres | null,
  chains: DevChains | null,
): ChildServer[] {
  const kept = 'Nothing is lost, except what it mined in its last second.';
  const chainParts = Object.entries(chains?.processes ?? {}).map(([mode, { pid, stateFile: data }]) => {
    return { name: `local ${mode} chain`, pid, data, log: `${data}.log`, kept };
  });
  const log = join(dataDir, 'postgres.log');
  return [
    ...(database ? [{ name: 'database', pid: database.pid, data: dataDir, log, kept: 'Nothing is lost.' }] : []),
    ...chainParts,
  ];
}

/**
 * Waits until a child server ends by itself, or the signal aborts.
 *
 * @throws RunFault if one has ended: without it every call would fail until the next start
 */
export async function watchChildServers(parts: readonly ChildServer[], signal: AbortSignal): Promise<void> {
  const ended = await firstToEnd(parts, signal);
  if (!ended) return;
  const { name, pid, data, log, kept } = ended;
  const rest = existsSync(data)
    ? `${kept} Its log is ${log}. Run npm start to continue.`
    : `${data} was removed while it ran. Run npm start to begin afresh.`;
  throw new RunFault(`The sandbox’s ${name} (process ${pid}) stopped unexpectedly. ${rest}`);
}
