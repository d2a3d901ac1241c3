import pg from 'pg';
import { pause } from '../lib/time.ts';

export type ListenOptions = pg.ClientConfig;

type Listening = { channel: string; hear: (payload: string) => void; begin: () => void };

/** After an outage of any length a new connection is tried again within this. */
const longestRetryMs = 1_000;
const firstRetryMs = 10;

/** Ends a connection without a word: its server may not answer any more. */
export function cutOff(client: pg.ClientBase): void {
  (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
}

/** Hears what is sent to channels, over a connection of its own, which is made when somebody listens and again when it is lost. */
export class Listener {
  readonly #options: ListenOptions;
  readonly #all = new Set<Listening>();
  readonly #ending = new AbortController();
  #client: Promise<pg.Client> | undefined;

  constructor(options: ListenOptions) {
    this.#options = options;
  }

  /** @returns what ends it, once it hears */
  async listen(channel: string, hear: (payload: string) => void, begin: () => void): Promise<() => void> {
    const listening = { channel, hear, begin };
    this.#all.add(listening);
    try {
      this.#client ??= this.#connect();
      const client = await this.#client;
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      this.#all.delete(listening);
      throw error;
    }
    begin();
    return () => {
      this.#all.delete(listening);
    };
  }

  /** @param limitMs a server that does not answer is not waited for any longer */
  async end(limitMs: number): Promise<void> {
    this.#ending.abort();
    this.#all.clear();
    const client = await this.#client?.catch(() => undefined);
    if (!client) return;
    const force = setTimeout(() => cutOff(client), limitMs);
    await client.end().finally(() => clearTimeout(force));
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#options);
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
    client.once('end', () => this.#listenAgain());
    return client;
  }

  async #listenAgain(): Promise<void> {
    this.#client = undefined;
    const { signal } = this.#ending;
    for (let waitMs = firstRetryMs; this.#all.size > 0 && !signal.aborted; waitMs *= 3) {
      await pause(Math.min(waitMs, longestRetryMs), signal);
      try {
        this.#client ??= this.#connect();
        const client = await this.#client;
        const channels = new Set([...this.#all].map(({ channel }) => channel));
        for (const channel of channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
        for (const { begin } of this.#all) begin();
        return;
      } catch {
        // The next turn tries again; whoever listens looks by itself meanwhile.
      }
    }
  }
}
