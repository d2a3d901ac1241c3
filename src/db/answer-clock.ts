import type pg from 'pg';

/**
 * Closes a connection whose server has left a statement without an answer for too long: the next answer could belong to
 * any statement. It has one timer, which is set anew. With pg's `query_timeout`, which makes one for each statement,
 * every row that was read lived on until V8 collected all of its memory.
 */
export class AnswerClock {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;

  /** @param limitMs counted from when a statement was sent, or from the answer to the one before it */
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
