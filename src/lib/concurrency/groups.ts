import { outsideTrails } from '../trail.ts';
import { turnTimeout } from './turn-timeout.ts';

/** Limits of groups, and the work they do. If `together` returns undefined, each item of the group runs alone. */
export type GroupOptions<Item, Answer> = {
  /** The most items in a group. */
  maxItems: number;
  /** The most groups under way, not counting those that have taken longer than `slowAfterMs`. */
  atOnce: number;
  /** A group that is not full runs beside others only if all together have at most this many items. */
  few: number;
  slowAfterMs: number;
  /**
   * How long other owners come first while an owner has work under way. After that, its next work runs alone, beside
   * the work under way.
   */
  maxBehindMs: number;
  /** Work that waits longer fails as unreachable. */
  maxWaitMs: number;
  together(items: Item[]): Promise<Answer[] | undefined>;
};

type Waiting<Item, Answer> = {
  owner: string;
  kind: string;
  item: Item;
  since: number;
  turn: PromiseWithResolvers<Turn<Answer>>;
};
/** `answer` is undefined if the work must run alone. `end` is called when it has ended. */
type Turn<Answer> = { answer: Promise<Answer | undefined>; end: () => void };

/**
 * Runs work that arrives at the same time in groups. Work that finds nothing under way runs alone, at once. Otherwise
 * it waits, and then runs together with other waiting work. The items of a group belong to different owners, none of
 * whom has other work under way. So no group waits for a lock that an owner's other work holds. (`Batcher` is for
 * questions that lock nothing, so it needs no owners and runs nothing alone.)
 */
export class Groups<Item, Answer> {
  readonly #options: GroupOptions<Item, Answer>;
  #waiting: Waiting<Item, Answer>[] = [];
  /** How much work each owner has under way. */
  readonly #owners = new Map<string, number>();
  #groups = 0;
  /** How much work is in these groups. */
  #members = 0;
  #isPlanned = false;

  constructor(options: GroupOptions<Item, Answer>) {
    this.#options = options;
  }

  /**
   * Runs work when its turn comes.
   *
   * @param kind only work of one kind goes together
   * @param alone runs it alone, also if the group returned undefined or no answer for it
   * @throws what `together` and `alone` throw; CONNECTION_TIMEOUT if its turn did not come in time
   */
  async run(owner: string, kind: string, item: Item, alone: () => Promise<Answer>): Promise<Answer> {
    const turn = Promise.withResolvers<Turn<Answer>>();
    const one = { owner, kind, item, since: performance.now(), turn };
    if (this.#waiting.length === 0 && (this.#groups === 0 || this.#isOnly(owner))) this.#start([one]);
    else {
      this.#waiting.push(one);
      this.#plan();
    }
    const { answer, end } = await turn.promise;
    try {
      return (await answer) ?? (await alone());
    } finally {
      end();
      this.#count(owner, -1);
    }
  }

  /** Whether all work under way is this owner's, so that none of it could share a group with its next work. */
  #isOnly(owner: string): boolean {
    return this.#owners.size === 1 && this.#owners.has(owner);
  }

  #count(owner: string, more: number): void {
    const count = (this.#owners.get(owner) ?? 0) + more;
    if (count > 0) this.#owners.set(owner, count);
    else this.#owners.delete(owner);
  }

  /** Plans after everything of this turn of the event loop has arrived. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.#giveUp();
      while (this.#waiting.length > 0 && this.#mayStart()) this.#start(this.#pick());
    });
  }

  /** One group costs less than two of half its size, so under load it waits until it is full or none is under way. */
  #mayStart(): boolean {
    const { maxItems, atOnce, few } = this.#options;
    if (this.#groups === 0 || this.#groups >= atOnce) return this.#groups === 0;
    return this.#waiting.length >= maxItems || this.#members + this.#waiting.length <= few;
  }

  #giveUp(): void {
    const late = performance.now() - this.#options.maxWaitMs;
    const after = this.#waiting.findIndex(({ since }) => since >= late);
    for (const { turn } of this.#waiting.splice(0, after < 0 ? this.#waiting.length : after)) {
      turn.reject(turnTimeout());
    }
  }

  /**
   * The longest wait comes first. An owner that has work under way gets a turn only if nobody else waits or after
   * `maxBehindMs`, and then its work runs alone.
   */
  #pick(): Waiting<Item, Answer>[] {
    const [first] = this.#waiting;
    const behind = performance.now() - this.#options.maxBehindMs;
    if (first && first.since < behind && this.#owners.has(first.owner)) return this.#waiting.splice(0, 1);
    const owners = new Set(this.#owners.keys());
    let kind: string | undefined;
    let count = 0;
    const taken = new Set<Waiting<Item, Answer>>();
    for (const one of this.#waiting) {
      if (owners.has(one.owner) || (kind ?? one.kind) !== one.kind) continue;
      kind = one.kind;
      owners.add(one.owner);
      taken.add(one);
      if (++count === this.#options.maxItems) break;
    }
    if (count === 0) return this.#waiting.splice(0, 1);
    this.#waiting = this.#waiting.filter((one) => !taken.has(one));
    return [...taken];
  }

  #start(group: Waiting<Item, Answer>[]): void {
    this.#groups++;
    this.#members += group.length;
    let isOver = false;
    const end = () => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      this.#groups--;
      this.#members -= group.length;
      this.#plan();
    };
    const timer = setTimeout(end, this.#options.slowAfterMs);
    for (const { owner } of group) this.#count(owner, 1);
    if (group.length === 1) {
      group[0]?.turn.resolve({ answer: Promise.resolve(undefined), end });
      return;
    }
    const answers = outsideTrails(() => this.#options.together(group.map(({ item }) => item)));
    for (const [at, { turn }] of group.entries()) turn.resolve({ answer: answers.then((all) => all?.[at]), end });
  }
}
