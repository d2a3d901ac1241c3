import type pg from 'pg';

/**
 * Closes a connection whose server does not answer a statement in time, because a later answer could be taken for that
 * of another statement. It restarts a single timer. pg's `query_timeout` creates one per statement, which keeps every
 * row that was read in memory until V8's next full collection.
 */
export class AnswerClock {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;

  /** @param limitMs counted from when a statement was sent, or from the answer to the previous one, if that is later */
  constructor(client: pg.ClientBase, limitMs: number) {
    const { stream } = (client as unknown as { connection: pg.Connection }).connection;
    const look = () => {
      if (this.#unanswered > 0) stream.destroy(new Error('answer timeout'));
    };
    this.#timer = setTimeout(look, limitMs).unref();
  }

  sent(): void {
    if (this.#unanswered++ === 0) this.#timer.refresh();
  }

  answered(): void {
    if (--this.#unanswered > 0) this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
