/**
 * Test and live never mix: each has its own chains, keys, merchants and webhooks. The database column is `test_mode`.
 */
export type Mode = 'test' | 'live';
export const modes: readonly Mode[] = ['test', 'live'];

/** The mode that `test_mode` stands for. */
export const modeOf = (testMode: boolean): Mode => (testMode ? 'test' : 'live');
