type Asked<Q, A> = { question: Q; deadline: number } & Pick<PromiseWithResolvers<A>, 'resolve' | 'reject'>;

/**
 * Answers questions of many callers together. While a few rounds are under way, further questions are collected for the
 * next one. So however many ask, only these rounds are under way, and nobody waits for more than two of them as long as
 * one round can take all questions.
 */
export class Batcher<Q, A> {
  readonly #askAll: (questions: Q[]) => Promise<A[]>;
  readonly #late: () => Error;
  readonly #maxRounds: number;
  readonly #maxOfRound: number;
  #waiting: Asked<Q, A>[] = [];
  #rounds = 0;

  /**
   * @param askAll answers all questions of a round, in their order
   * @param late the error of a question whose deadline passed before its round began
   */
  constructor(
    askAll: (questions: Q[]) => Promise<A[]>,
    late: () => Error,
    max: { rounds: number; ofRound: number } = { rounds: 2, ofRound: 500 },
  ) {
    this.#askAll = askAll;
    this.#late = late;
    this.#maxRounds = max.rounds;
    this.#maxOfRound = max.ofRound;
  }

  /**
   * @param deadline ms of `performance.now()`; the question is in no round that begins later
   * @throws what `askAll` throws, and `late`
   */
  ask(question: Q, deadline: number): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    this.#waiting.push({ question, deadline, resolve, reject });
    void this.#begin();
    return promise;
  }

  async #begin(): Promise<void> {
    if (this.#rounds >= this.#maxRounds) return;
    this.#rounds++;
    for (let round = this.#take(); round.length > 0; round = this.#take()) await this.#run(round);
    this.#rounds--;
  }

  #take(): Asked<Q, A>[] {
    const now = performance.now();
    const inTime = this.#waiting.filter((asked) => {
      if (now < asked.deadline) return true;
      asked.reject(this.#late());
      return false;
    });
    this.#waiting = inTime.slice(this.#maxOfRound);
    return inTime.slice(0, this.#maxOfRound);
  }

  async #run(round: Asked<Q, A>[]): Promise<void> {
    try {
      const answers = await this.#askAll(round.map(({ question }) => question));
      for (const [i, asked] of round.entries()) asked.resolve(answers[i] as A);
    } catch (error) {
      for (const asked of round) asked.reject(error);
    }
  }
}
