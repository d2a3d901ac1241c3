/** How a loop sleeps. Anyone with work for it wakes it. Waking it while it is awake ends its next sleep. */
export type Sleeper = {
  wake(): void;
  /** Wakes it after this time; the earliest of several counts. */
  wakeIn(ms: number): void;
  /** Resolves when woken, when the time is over, or when the signal aborts. */
  sleep(atMostMs: number, signal: AbortSignal): Promise<void>;
};

/** A sleeper that is awake until its first `sleep`. Times are measured with a monotonic clock. */
export function makeSleeper(): Sleeper {
  let wakeAt = Number.POSITIVE_INFINITY;
  let rearm = () => {};
  const wakeIn = (ms: number) => {
    wakeAt = Math.min(wakeAt, performance.now() + ms);
    rearm();
  };
  return {
    wake: () => wakeIn(0),
    wakeIn,
    sleep: (atMostMs, signal) => {
      const until = performance.now() + atMostMs;
      return new Promise((resolve) => {
        let timer: NodeJS.Timeout | undefined;
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          rearm = () => {};
          if (wakeAt <= performance.now()) wakeAt = Number.POSITIVE_INFINITY;
          resolve();
        };
        rearm = () => {
          clearTimeout(timer);
          timer = setTimeout(end, Math.max(0, Math.min(until, wakeAt) - performance.now()));
        };
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
        else rearm();
      });
    },
  };
}
