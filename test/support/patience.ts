/**
 * How long a test waits for real work before it calls it lost (ms): a wait that succeeds costs nothing, and a busy machine
 * does in minutes what a quiet one does in seconds.
 */
export const patienceMs = 240_000;
