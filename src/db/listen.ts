import pg from 'pg';
import { pause } from '../lib/time.ts';

export type ListenOptions = pg.ClientConfig;

/** Somebody who listens to a channel. */
export type Subscriber = {
  onMessage(payload: string): void;
  /** Called when listening starts, for the first time or again. Earlier messages may have been missed. */
  onListening(): void;
  /** Listening failed and is being retried. Called once per outage. */
  onError(error: unknown): void;
};

type Subscription = Subscriber & { channel: string; active: boolean; reported: boolean };

/** The longest pause between two attempts to connect. */
const maxRetryMs = 1_000;
const firstRetryMs = 10;

/** Closes a connection without telling its server, which may no longer answer. */
export function cutOff(client: pg.ClientBase): void {
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
}

/** Receives notifications over a separate connection. It is opened at the first `listen`, and again when it is lost. */
export class Listener {
  readonly #options: ListenOptions;
  readonly #answerMs: number;
  readonly #all = new Set<Subscription>();
  readonly #ending = new AbortController();
  #client: pg.Client | undefined;
  #trying = false;
  #waitMs = firstRetryMs;

  /**
   * @param answerMs how long the server may take to answer. It is asked as often, because a connection that only waits
   * does not notice that the other end is gone
   */
  constructor(options: ListenOptions, answerMs: number) {
    this.#options = { ...options, query_timeout: answerMs };
    this.#answerMs = answerMs;
  }

  /** @returns a function that stops listening */
  listen(channel: string, { onMessage, onListening, onError }: Subscriber): () => void {
    if (this.#ending.signal.aborted) return () => {};
    const subscription = { channel, onMessage, onListening, onError, active: false, reported: false };
    this.#all.add(subscription);
    void this.#listenAll();
    return () => {
      this.#all.delete(subscription);
    };
  }

  /** Replaces the connection. */
  renew(): void {
    if (this.#client) cutOff(this.#client);
  }

  /** @param limitMs how long to wait for the server at most */
  async end(limitMs: number): Promise<void> {
    this.#ending.abort();
    this.#all.clear();
    const client = this.#client;
    if (!client) return;
    const force = setTimeout(() => cutOff(client), limitMs);
    await client.end().finally(() => clearTimeout(force));
  }

  /** Retries until everybody is listening, or nobody wants to any more. */
  async #listenAll(): Promise<void> {
    if (this.#trying) return;
    this.#trying = true;
    const inactive = () => [...this.#all].filter(({ active }) => !active);
    while (inactive().length > 0) {
      try {
        const client = this.#client ?? (await this.#connect());
        const waiting = inactive();
        for (const { channel } of waiting) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
        for (const one of waiting) {
          Object.assign(one, { active: true, reported: false });
          if (this.#all.has(one)) one.onListening();
        }
      } catch (error) {
        for (const one of inactive()) {
          if (!one.reported) one.onError(error);
          one.reported = true;
        }
        await this.#rest();
      }
    }
    this.#trying = false;
  }

  async #rest(): Promise<void> {
    await pause(this.#waitMs, this.#ending.signal);
    this.#waitMs = Math.min(this.#waitMs * 3, maxRetryMs);
  }

  /** Waits before it replaces a connection that did not last: subscribers read everything again at each new one. */
  async #listenAgain(heldMs: number): Promise<void> {
    if (heldMs >= maxRetryMs) this.#waitMs = firstRetryMs;
    else await this.#rest();
    await this.#listenAll();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#options);
    this.#client = client;
    client.on('error', () => {}); // `end` follows
    client.on('notification', ({ channel, payload = '' }) => {
      for (const one of this.#all) if (one.channel === channel) one.onMessage(payload);
    });
    try {
      await client.connect();
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
    const since = performance.now();
    const asking = setInterval(() => client.query('select').catch(() => cutOff(client)), this.#answerMs);
    client.once('end', () => {
      clearInterval(asking);
      this.#client = undefined;
      for (const one of this.#all) one.active = false;
      void this.#listenAgain(performance.now() - since);
    });
    return client;
  }
}
