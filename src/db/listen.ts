import pg from 'pg';
import { pause } from '../lib/time.ts';

export type ListenOptions = pg.ClientConfig;

/** Somebody who listens to a channel. */
export type Hearer = {
  hear(payload: string): void;
  /** Listening starts now, for the first time or again. Anything before may have been missed. */
  begin(): void;
  /** Listening failed and is being retried. Called once per outage. */
  complain(error: unknown): void;
};

type Listening = Hearer & { channel: string; hears: boolean; complained: boolean };

/** However long an outage was, a new connection is tried within this time. */
const longestRetryMs = 1_000;
const firstRetryMs = 10;

/** Closes a connection without a goodbye, because its server may no longer answer. */
export function cutOff(client: pg.ClientBase): void {
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
}

/** Receives notifications over a connection of its own. It is opened at the first `listen` and reopened when lost. */
export class Listener {
  readonly #options: ListenOptions;
  readonly #all = new Set<Listening>();
  readonly #ending = new AbortController();
  #client: pg.Client | undefined;
  #trying = false;

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  /** @returns what ends it */
  listen(channel: string, { hear, begin, complain }: Hearer): () => void {
    if (this.#ending.signal.aborted) return () => {};
    const listening = { channel, hear, begin, complain, hears: false, complained: false };
    this.#all.add(listening);
    void this.#listenAll();
    return () => {
      this.#all.delete(listening);
    };
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
    const deaf = () => [...this.#all].filter(({ hears }) => !hears);
    for (let waitMs = firstRetryMs; deaf().length > 0; ) {
      try {
        const client = this.#client ?? (await this.#connect());
        const waiting = deaf();
        for (const { channel } of waiting) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
        for (const one of waiting) {
          Object.assign(one, { hears: true, complained: false });
          if (this.#all.has(one)) one.begin();
        }
      } catch (error) {
        for (const one of deaf()) {
          if (!one.complained) one.complain(error);
          one.complained = true;
        }
        await pause(waitMs, this.#ending.signal);
        waitMs = Math.min(waitMs * 3, longestRetryMs);
      }
    }
    this.#trying = false;
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#options);
    this.#client = client;
    client.on('error', () => {}); // the end follows
    client.on('notification', ({ channel, payload = '' }) => {
      for (const one of this.#all) if (one.channel === channel) one.hear(payload);
    });
    try {
      await client.connect();
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
    client.once('end', () => {
      this.#client = undefined;
      for (const one of this.#all) one.hears = false;
      void this.#listenAll();
    });
    return client;
  }
}
