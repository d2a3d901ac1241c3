/** How many rounds a figure has. Ratios of fewer than eight are a quick look only. */
export const rounds = Number(process.env.BENCH_ROUNDS || 8);

/** One way of doing the work, for about `seconds`; returns how often it was done per second. */
export type Arm = { name: string; run(seconds: number): Promise<number> };

/** The rate of each arm in each round, per second: `rates[arm][round]`. */
export type Measured = { rates: Record<string, number[]> };

/**
 * Runs all arms once per round in random order, so that other load on the machine affects all of them alike. A first
 * round warms up and is not counted.
 */
export async function interleave(arms: Arm[], rounds: number, seconds: number): Promise<Measured> {
  const rates: Record<string, number[]> = Object.fromEntries(arms.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    const said: string[] = [];
    for (const arm of shuffled(arms)) {
      const rate = await arm.run(seconds);
      said.push(`${arm.name} ${rate.toFixed(0)}/s`);
      if (round > 0) rates[arm.name]?.push(rate);
    }
    process.stdout.write(`  ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}: ${said.join(', ')}\n`);
  }
  return { rates };
}

export function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

export type Spread = { median: number; min: number; max: number };

export function spread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
  return { median, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** The ratio of two arms, round by round. */
export function ratio({ rates }: Measured, arm: string, base: string): Spread {
  return spread((rates[arm] ?? []).map((rate, round) => rate / (rates[base]?.[round] ?? Number.NaN)));
}
