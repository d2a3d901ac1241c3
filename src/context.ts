import type { Logger } from 'pino';
import type { ChainConfig } from './config/chains.ts';
import type { Config } from './config.ts';
import type { Database } from './db/connection.ts';
import type { Mode } from './lib/mode.ts';
import type { Clock } from './lib/time.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** What every function of a noun may need, made once at start. */
export type Context = {
  config: Config;
  db: Database;
  clock: Clock;
  log: Logger;
  /** The chains of each mode; in the sandbox those that were started. */
  chains: Record<Mode, ChainConfig[]>;
  /** Null in production. */
  sandbox: Sandbox | null;
};
