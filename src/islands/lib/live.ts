import type { PageFragment } from './fragments.ts';

/** The state of a payment, as the server sends it. */
export type LiveState = { kind: string; over: boolean; title: string; parts: PageFragment[] };
/** Why no state is received. */
export type Silence = 'offline' | 'unreachable';

const tickMs = 1_000;
/** How long the stream may be silent. The server sends a heartbeat every 5 s. */
const quietMs = 15_000;
const firstWaitMs = 2_000;
const maxWaitMs = 15_000;
const reconnectMs = 30_000;
const answerMs = 8_000;

/**
 * Receives each change by server-sent events. If these do not get through, it polls. Ends when the payment's state is
 * final: from then on it asks only when somebody returns to the page, because a second payment may have arrived.
 *
 * @param silence called when nothing can be received, and with null when it can again
 * @returns a function that polls at once
 */
export function followState(
  path: string,
  hear: (state: LiveState) => void,
  silence: (why: Silence | null) => void,
): () => void {
  let source: EventSource | undefined;
  let over = false;
  let connectedAt = 0;
  let heardAt = 0;
  let waitMs = firstWaitMs;
  let askAt = 0;
  let asking = false;
  let failures = 0;
  let streamed = 0;

  const alive = () => {
    failures = 0;
    silence(null);
  };
  /** A page in its final state needs no connection. */
  const tell = (why: Silence) => {
    if (!over) silence(why);
  };
  const take = (state: LiveState) => {
    if (over && !state.over) return; // an answer that was under way when the final state came
    alive();
    hear(state);
    if (!state.over) return;
    over = true;
    source?.close();
    clearInterval(ticking);
  };
  const connect = () => {
    source?.close();
    connectedAt = Date.now();
    source = new EventSource(`${path}/events`);
    const heard = () => {
      heardAt = Date.now();
      waitMs = firstWaitMs;
      alive();
    };
    source.onmessage = ({ data }) => {
      streamed++;
      heard();
      take(JSON.parse(data) as LiveState);
    };
    source.addEventListener('here', heard);
    source.onerror = () => {
      heardAt = 0;
    };
  };
  const ask = async () => {
    if (asking) return;
    asking = true;
    const before = streamed;
    try {
      const answer = await fetch(`${path}/state`, { cache: 'no-store', signal: AbortSignal.timeout(answerMs) });
      if (!answer.ok) throw new Error(String(answer.status));
      const state = (await answer.json()) as LiveState;
      // What the stream sent meanwhile may be newer, and the stream repeats nothing.
      if (streamed === before) take(state);
      else alive();
    } catch {
      failures++;
      if (!navigator.onLine) tell('offline');
      else if (failures > 1) tell('unreachable');
    }
    asking = false;
    askAt = Date.now() + waitMs;
    waitMs = Math.min(waitMs * 1.5, maxWaitMs);
  };
  const tick = () => {
    const now = Date.now();
    if (now - heardAt < quietMs) return;
    if (now >= askAt) void ask();
    // An event source that was ended for good, or whose connection was lost unnoticed, does not reconnect by itself.
    if (source?.readyState !== EventSource.CONNECTING && now - connectedAt > reconnectMs) connect();
  };
  /** A phone that slept, or a browser that was offline, has missed changes. */
  const wake = () => {
    if (document.hidden) return;
    waitMs = firstWaitMs;
    if (!over) connect();
    void ask();
  };

  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
  addEventListener('offline', () => tell('offline'));
  addEventListener('pageshow', ({ persisted }) => persisted && wake());
  const ticking = setInterval(tick, tickMs);
  askAt = Date.now() + firstWaitMs;
  connect();
  return () => void ask();
}
