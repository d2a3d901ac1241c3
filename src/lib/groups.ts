import { missedTurn } from './missed-turn.ts';
import { outsideTrails } from './trail.ts';

/** What goes together, and what waits for it. `together` fails by undefined: then each goes alone. */
export type GroupOptions<Item, Answer> = {
  /** So many at most go together. */
  most: number;
  /** So many groups are under way at most, but for those that have taken longer than `patienceMs`. */
  atOnce: number;
  /** A group that is not full goes beside another only where both have so much work at most. */
  few: number;
  patienceMs: number;
  /** So long others come first where an owner has other work under way; then it goes alone beside that. */
  longestBehindMs: number;
  /** What waits longer fails, as unreachable. */
  longestWaitMs: number;
  together(items: Item[]): Promise<Answer[] | undefined>;
};

type Waiting<Item, Answer> = {
  owner: string;
  kind: string;
  item: Item;
  since: number;
  turn: PromiseWithResolvers<Turn<Answer>>;
};
/** `answer` is undefined where the work has to go alone. `end` is called when it has ended. */
type Turn<Answer> = { answer: Promise<Answer | undefined>; end: () => void };

/**
 * Lets work of the same moment go together. Work that finds nobody before it goes alone, at once. While others are
 * under way it waits, and goes together with what waits too. In a group each is of another owner, none of whom has work
 * under way: so none waits for what an owner's other work holds. (`Gathered` asks questions that hold nothing, so it
 * neither knows owners nor lets one go alone.)
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
   * Runs work when it is its turn.
   *
   * @param kind only work of one kind goes together
   * @param alone does it by itself, as it does too where the group's work failed by undefined or has no answer for it
   * @throws what `together` and `alone` throw; CONNECTION_TIMEOUT where its turn did not come in time
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

  /** Nothing under way could go together with its work. */
  #isOnly(owner: string): boolean {
    return this.#owners.size === 1 && this.#owners.has(owner);
  }

  #count(owner: string, more: number): void {
    const count = (this.#owners.get(owner) ?? 0) + more;
    if (count > 0) this.#owners.set(owner, count);
    else this.#owners.delete(owner);
  }

  /** Once all has come in that this turn of the event loop brings. */
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
    const { most, atOnce, few } = this.#options;
    if (this.#groups === 0 || this.#groups >= atOnce) return this.#groups === 0;
    return this.#waiting.length >= most || this.#members + this.#waiting.length <= few;
  }

  #giveUp(): void {
    const late = performance.now() - this.#options.longestWaitMs;
    const after = this.#waiting.findIndex(({ since }) => since >= late);
    for (const { turn } of this.#waiting.splice(0, after < 0 ? this.#waiting.length : after)) {
      turn.reject(missedTurn());
    }
  }

  /** Who has waited longest comes first. Of owners that have work under way, one goes alone where nobody else waits. */
  #pick(): Waiting<Item, Answer>[] {
    const [first] = this.#waiting;
    const behind = performance.now() - this.#options.longestBehindMs;
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
      if (++count === this.#options.most) break;
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
    const timer = setTimeout(end, this.#options.patienceMs);
    for (const { owner } of group) this.#count(owner, 1);
    if (group.length === 1) {
      group[0]?.turn.resolve({ answer: Promise.resolve(undefined), end });
      return;
    }
    const answers = outsideTrails(() => this.#options.together(group.map(({ item }) => item)));
    for (const [at, { turn }] of group.entries()) turn.resolve({ answer: answers.then((all) => all?.[at]), end });
  }
}
