import type { Measured } from './rounds.ts';
import type { Stage } from './stage.ts';

/** A comparison of two arms of one run. `target`: the lowest ratio that is good enough. */
export type Comparison = { title: string; arm: string; base: string; measured: Measured; target?: number };

/** The result of a figure. It is printed, and written into its block of `docs/performance.md` or `docs/scaling.md`. */
export type Finding = {
  /** Facts that a ratio depends on: rounds, clients, versions. */
  facts: string[];
  comparisons?: Comparison[];
  /** Figures that are not the ratio of two rates. */
  table?: { head: string[]; rows: string[][] };
  /** Texts below the figures, each with a title: statements, for example. */
  appendix?: { title: string; code: string[] };
};

/** `bench/figures/<name>.ts` exports one as `figure`; `npm run bench <name>` measures it. */
export type Figure = {
  /** A sentence or two that say what is compared with what. */
  what: string;
  /** How many minutes the run may take. */
  limitMinutes: number;
  measure(stage: Stage): Promise<Finding>;
};
