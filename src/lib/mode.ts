/** Test and live never meet: each has its own chains, keys, merchants and webhooks. The database writes `test_mode`. */
export type Mode = 'test' | 'live';
export const modes: readonly Mode[] = ['test', 'live'];

/** The mode that `test_mode` stands for. */
export const modeOf = (testMode: boolean): Mode => (testMode ? 'test' : 'live');
