import type { Logger } from 'pino';
import type { ChainConfig } from './config/chains.ts';
import type { Config } from './config.ts';
import type { Database } from './db/connection.ts';
import type { Mode } from './lib/mode.ts';
import type { Clock } from './lib/time.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** The things that any function of a noun may need. They are created once at start. */
export type Context = {
  config: Config;
  db: Database;
  clock: Clock;
  log: Logger;
  /** The chains of each mode: the configured ones, or those that the sandbox has started. */
  chains: Record<Mode, ChainConfig[]>;
  /** Null in production. */
  sandbox: Sandbox | null;
};
