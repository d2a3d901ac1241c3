import { mine } from '../../src/sandbox/wallet.ts';
import * as acts from './actions.ts';
import { calm } from './calm.ts';
import { claim, steal } from './claims.ts';
import { sendDust } from './dust.ts';
import { breakIt } from './inject-faults.ts';
import { Invariants } from './invariants.ts';
import { lostPayments, pay, sendAgain } from './payments.ts';
import { Aims, type Lost, reorganise } from './reorganise.ts';
import { at, chanceOf } from './seeded-choices.ts';
import { makeStage, type Stage } from './stage.ts';
import { type FaultKind, nameOf, type Step, stepsOf } from './steps.ts';
import { moveWallet, resetMerchant } from './wallets.ts';

/** Between two comparisons with the model. */
const usualRound = 500;
/** Calls under way at a time; a node that does not answer holds up no more. */
const maxUnderWay = 48;
const seconds = (ms: number) => (ms / 1000).toFixed(1);

export type Figures = {
  steps: number;
  seconds: number;
  /** How often each step was made. */
  made: Record<string, number>;
  orders: number;
  payments: number;
  events: number;
  /** The number of reorganisations, by depth. */
  depths: Record<number, number>;
  /** How often a reorganisation removed a payment that it waited for, by its depth and the payment's state. */
  reached: Record<string, number>;
  /** How many payments reorganisations removed, by the proof that the request had. */
  lost: Record<Lost['proof'], number>;
  checks: number;
  longestCalmMs: number;
};

export type Simulation = {
  seed: number;
  steps: number;
  kinds: readonly FaultKind[];
  print(line: string): void;
  /** Aborts the run. Everything is still stopped. */
  signal: AbortSignal;
};

/**
 * Makes the steps of a seed against real processes and compares with the model in between.
 *
 * @throws Error with the last steps and what differs
 */
export async function simulate(simulation: Simulation): Promise<Figures> {
  const broken: unknown[] = [];
  const stage = await makeStage((what) => broken.push(new acts.Broken(what)));
  if (!stage.database.canFill) simulation.print('No disk can be mounted here, so no disk is ever full.');
  const run = new Run(stage, simulation, broken);
  try {
    return await Promise.race([run.all(), aborted(simulation.signal)]);
  } catch (error) {
    throw new Error(`${(error as Error).stack}\nthe steps since it last settled:\n${run.last.join('\n')}`);
  } finally {
    await run.mended(); // what is to be started again would be started after the end
    await stage.end();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new Error('broken off'));
    signal.addEventListener('abort', fail, { once: true });
    if (signal.aborted) fail();
  });
}

class Run {
  /** What happened since the service last agreed with the model. */
  readonly last: string[] = [];
  private readonly stage: Stage;
  private readonly simulation: Simulation;
  private readonly broken: unknown[];
  private readonly invariants: Invariants;
  private readonly followers: acts.Follower[];
  private readonly underWay = new Set<Promise<unknown>>();
  /** The current faults, by what they break: one of each at a time. */
  private readonly faults = new Map<string, Promise<unknown>>();
  private readonly aims: Aims;
  private isOver = false;
  private readonly startedAt = performance.now();
  private readonly figures: Figures = {
    ...{ steps: 0, seconds: 0, made: {}, orders: 0, payments: 0, events: 0 },
    ...{
      depths: {},
      reached: {},
      lost: { none: 0, attached: 0, verified: 0, unknown: 0 },
      checks: 0,
      longestCalmMs: 0,
    },
  };

  constructor(stage: Stage, simulation: Simulation, broken: unknown[]) {
    this.stage = stage;
    this.simulation = simulation;
    this.broken = broken;
    this.invariants = new Invariants(stage);
    this.aims = new Aims(chanceOf(~simulation.seed)); // not the numbers that its steps are drawn from
    this.followers = stage.partners.map((_, partner) => new acts.Follower(partner));
  }

  async all(): Promise<Figures> {
    const { seed, steps, kinds } = this.simulation;
    const round = Math.min(usualRound, Math.ceil(steps / 3));
    for (const step of stepsOf(chanceOf(seed), kinds)) {
      if (step.number > steps) break;
      await this.make(step);
      if (step.number % round === 0 || step.number === steps) await this.settle(step.number);
    }
    const { orders, payments } = this.stage.model;
    return Object.assign(this.figures, {
      ...{ orders: orders.length, payments: payments.length, events: this.invariants.arrived.size },
      ...{ checks: this.invariants.checks, seconds: Math.round((performance.now() - this.startedAt) / 1000) },
    });
  }

  private async make(step: Step): Promise<void> {
    if (this.isOver) throw new Error('broken off');
    const name = nameOf(step);
    const { payments } = this.stage.model;
    const before = payments.length;
    const beganAt = this.sinceStart();
    const did = step.kind === 'fault' ? await this.break(step.fault, step) : await this.act(step);
    const shares = step.shares.map((share) => share.toFixed(3)).join(' ');
    const paid = payments.slice(before).map(({ txHash, block }) => ` ${txHash} in ${block}`);
    this.last.push(`${beganAt} s: ${step.number} ${name} ${shares}${did ? '' : ' (nothing)'}${paid.join(',')}`);
    if (did === true) this.count(name);
    this.figures.steps = step.number;
    if (step.kind === 'fault') await this.invariants.check();
    this.failIfBroken();
  }

  private sinceStart(): string {
    return seconds(performance.now() - this.startedAt);
  }

  /** Waits until nothing is broken any more; each fault has an end. */
  async mended(): Promise<void> {
    this.isOver = true;
    await Promise.all([...this.faults.values()]);
    await Promise.all(this.stage.nodes.map((node) => node.start().catch(() => {})));
  }

  private count(name: string): void {
    this.figures.made[name] = (this.figures.made[name] ?? 0) + 1;
  }

  private failIfBroken(): void {
    if (this.broken.length > 0) throw this.broken[0];
  }

  /** What is sent to the chain waits for its block; calls run beside it. @returns whether it is done by now */
  private async act(step: Exclude<Step, { kind: 'fault' }>): Promise<boolean | 'beside'> {
    const { stage } = this;
    const { shares } = step;
    const [which, , share] = shares;
    switch (step.kind) {
      case 'pay':
        return (await this.unlessAway(pay(stage, step.how, shares))) !== null;
      case 'mine':
        await mine(stage.chain.chain, 1 + Math.floor(which * 3));
        return true;
      case 'dust':
        return sendDust(stage, shares);
      case 'resend':
        return this.resend(which);
      case 'create':
        return this.beside(step.kind, acts.create(stage, shares));
      case 'replay':
        return this.beside(step.kind, acts.replay(stage, shares));
      case 'read':
        return this.beside(step.kind, acts.readOne(stage, shares));
      case 'follow':
        return this.beside(
          step.kind,
          this.followers[Math.floor(which * this.followers.length)]?.follow(stage, share, 5),
        );
      case 'cancel':
        return this.beside(step.kind, acts.cancel(stage, shares));
      case 'open':
        return this.beside(step.kind, acts.open(stage, shares));
      case 'hash':
        return this.beside(step.kind, acts.nameHash(stage, shares));
      case 'claim':
        return this.beside(step.kind, claim(stage, shares));
      case 'steal':
        return this.beside(step.kind, steal(stage, shares));
      case 'refund':
        return this.beside(step.kind, acts.refund(stage, shares));
      case 'move':
        return this.beside(step.kind, this.unlessAway(moveWallet(stage, shares)));
      case 'reset':
        return this.beside(step.kind, this.unlessAway(resetMerchant(stage, shares)));
    }
  }

  /** A step that needs the database, which may be away. */
  private unlessAway<T>(work: Promise<T | null>): Promise<T | null> {
    return work.catch((error: { code?: string }) => {
      if (typeof error.code !== 'string') throw error;
      return null;
    });
  }

  private async beside(name: string, work: Promise<unknown> | undefined): Promise<'beside'> {
    const done: Promise<unknown> = Promise.resolve(work)
      .then((did) => did && this.count(name))
      .catch((error) => this.broken.push(error))
      .finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    if (this.underWay.size >= maxUnderWay) await Promise.race(this.underWay);
    return 'beside';
  }

  private async resend(which: number): Promise<boolean> {
    const lost = at(lostPayments(this.stage), which);
    const sent = lost?.signed ? await sendAgain(this.stage, lost.signed) : null;
    if (lost && sent) lost.block = sent.block;
    return sent !== null;
  }

  private async break(fault: FaultKind, { number, shares }: Step): Promise<boolean> {
    if (fault === 'reorg') {
      const { depth, lost, reached } = await reorganise(this.stage, shares, this.aims);
      const { figures } = this;
      if (reached) figures.reached[reached] = (figures.reached[reached] ?? 0) + 1;
      figures.depths[depth] = (figures.depths[depth] ?? 0) + 1;
      for (const { proof } of lost) figures.lost[proof]++;
      return true;
    }
    const concern = concernOf(fault, shares);
    if (this.faults.has(concern)) return false;
    // Reserved before anything is broken.
    const made = breakIt(this.stage, fault, shares);
    const mended = made
      .then(async (broken) => {
        if (!broken) return;
        await new Promise((resolve) => setTimeout(resolve, broken.afterMs));
        await broken.mend();
        this.last.push(`${this.sinceStart()} s: ${number} ${fault} is mended`);
      })
      .catch((error) => this.broken.push(error))
      .finally(() => this.faults.delete(concern));
    this.faults.set(concern, mended);
    await made.catch(() => {});
    return true;
  }

  /** Everything is mended; then the service must come to agree with the model. */
  private async settle(number: number): Promise<void> {
    await Promise.all([...this.faults.values()]);
    await Promise.all(this.stage.nodes.map((node) => node.start()));
    await Promise.all(this.underWay);
    this.failIfBroken();
    const calmMs = await calm(this.stage, this.followers, this.simulation.kinds);
    this.figures.longestCalmMs = Math.max(this.figures.longestCalmMs, calmMs);
    if (!(await this.invariants.check()))
      throw new acts.Broken('the database cannot be asked, though nothing is broken');
    this.failIfBroken();
    this.last.length = 0;
    const { orders, payments } = this.stage.model;
    this.simulation.print(
      `${String(number).padStart(6)} steps, ${this.sinceStart()} s: ${orders.length} requests, ` +
        `${payments.length} payments, ${this.invariants.arrived.size} events; settled in ${seconds(calmMs)} s`,
    );
  }
}

/** What a fault breaks. There is one fault of each at a time. */
function concernOf(fault: FaultKind, [which, how]: Step['shares']): string {
  if (/^(kill-node|freeze-node)$/.test(fault)) return `node ${which < 0.5 ? 1 : 2}`;
  if (fault === 'clock') return `clock ${which < 0.5 ? 1 : 2}`;
  if (fault.startsWith('receiver-')) return `receiver ${Math.floor(which * 3)}`;
  if (/^(rpc|lie)-/.test(fault)) return `endpoint ${how < 0.6 || fault.startsWith('lie-') ? 1 : 2}`;
  if (fault.startsWith('set-')) return 'settings';
  return fault === 'rates' ? 'rates' : 'database';
}
