import type { GateCall, GateRow, GateRule, RunInGroup } from '../auth/gate.ts';
import { passGateAsGroup } from '../auth/gate-group.ts';
import type { Context } from '../context.ts';
import { sqlState } from '../db/connection.ts';
import { Groups } from '../lib/concurrency/groups.ts';
import { minuteMs } from '../lib/durations.ts';
import { traced } from '../lib/trace.ts';
import { maxGroupSize, storedAsGroup } from './grouped-creates-store.ts';
import type { Assumed } from './store.ts';

type Create = { call: GateCall; rule: GateRule; assumed: Assumed };

/** SQLSTATE classes of a lost connection: whether the group was stored is not known, so nothing may be stored again. */
const unknownEnd = /^(08|57P|25P)/;
/** More groups would be smaller ones, and cost more in all. */
export const groupsAtOnce = 2;
/** Fewer creates than this do not wait for more: as a group they would cost about as much as alone. */
const few = 4;
/** A statement that takes longer (ms) waits for a lock, so further groups may start. */
const slowAfterMs = 100;
/** A create that waits longer (ms) for another one of its partner runs beside it, even if others wait too. */
const maxBehindMs = 1_000;
/** As for a connection of the pool (ms). */
const maxWaitMs = 10_000;

/** Stores the creates that this process has decided by what it remembers: alone, or in groups under load. */
export class GroupedCreates {
  readonly #groups = new Groups<Create, GateRow | undefined>({
    ...{ maxItems: maxGroupSize, atOnce: groupsAtOnce, few, slowAfterMs, maxBehindMs, maxWaitMs },
    together: (creates) =>
      traced(
        () => ({
          name: 'store requests together',
          kind: 'internal',
          attributes: { 'quittance.requests': creates.length },
        }),
        () => this.#store(creates),
      ),
  });
  readonly #ctx: Context;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** How the gate counts and stores a create that is decided. */
  together(assumed: Assumed): RunInGroup {
    const { partnerId, testMode } = assumed.caller.scope;
    return (call, rule, alone) => {
      // At an unknown host nothing is counted or stored.
      if (call.owner === undefined) return alone();
      const turn = () => this.#groups.run(partnerId, String(testMode), { call, rule, assumed }, alone);
      return traced(() => ({ name: 'store a request', kind: 'internal' }), turn);
    };
  }

  /** @returns undefined if nothing was counted or stored: then each create runs alone, and fails alone */
  async #store(creates: Create[]): Promise<(GateRow | undefined)[] | undefined> {
    const rule = creates[0]?.rule;
    if (!rule) return;
    const { sql } = this.#ctx.db;
    const [calls, all] = [creates.map(({ call }) => call), creates.map(({ assumed }) => assumed)];
    try {
      return await passGateAsGroup(sql, rule, calls, storedAsGroup(sql, all));
    } catch (error) {
      const state = sqlState(error);
      if (state === undefined || unknownEnd.test(state)) throw error;
      this.#warn(state);
      return;
    }
  }

  /** A lasting failure costs every create another statement, and no response shows it. */
  #warn(sqlState: string): void {
    const now = performance.now();
    if (now - this.#loggedAt < minuteMs) return;
    this.#loggedAt = now;
    this.#ctx.log.warn({ sqlState }, 'creates could not be stored together: each was stored by itself');
  }
}
