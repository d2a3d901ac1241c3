import type { Measured } from './rounds.ts';
import type { Stage } from './stage.ts';

/** Two arms of one run. `target`: the least ratio that is good enough. */
export type Comparison = { title: string; arm: string; base: string; measured: Measured; target?: number };

/** What a figure found. Everything that is given is printed, and stands in its block of `docs/performance.md` (or of `docs/scaling.md`). */
export type Finding = {
  /** Facts that a ratio depends on: rounds, clients, versions. */
  facts: string[];
  comparisons?: Comparison[];
  /** Figures that are no ratio of two rates. */
  table?: { head: string[]; rows: string[][] };
  /** Texts below the figures, each with a title: statements, for example. */
  appendix?: { title: string; code: string[] };
};

/** `bench/figures/<name>.ts` exports one as `figure`; `npm run bench <name>` measures it. */
export type Figure = {
  /** What is compared with what, in a sentence or two. */
  what: string;
  /** After so many minutes the run is given up. */
  limitMinutes: number;
  measure(stage: Stage): Promise<Finding>;
};
