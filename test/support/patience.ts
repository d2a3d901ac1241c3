/**
 * How long a test waits for real work before it fails (ms). A wait that succeeds costs nothing, and a busy machine may
 * need minutes for what a quiet one does in seconds.
 */
export const patienceMs = 240_000;
