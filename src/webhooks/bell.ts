const waiting = new Set<() => void>();
let rungAt = Number.NEGATIVE_INFINITY;

const idleMs = 250;
const hurriedMs = 15;
const restMs = 5;
const hurryForMs = 400;

/**
 * Wakes this process's deliveries; other processes notice within their idle wait. It is rung before the writing
 * transaction has committed, so whoever hears it looks a few times in short order.
 */
export function ringBell(): void {
  rungAt = performance.now();
  for (const wake of waiting) wake();
}

/** Waits for the bell, though a moment at least, for the end of the idle wait, or for the signal. */
export function hearBell(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const restUntil = performance.now() + restMs;
  const hurried = performance.now() - rungAt < hurryForMs;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const wake = () => {
      waiting.delete(wake);
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, restUntil - performance.now()));
    };
    let timer = setTimeout(end, hurried ? hurriedMs : idleMs);
    waiting.add(wake);
    signal.addEventListener('abort', end, { once: true });
  });
}
