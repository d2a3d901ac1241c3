import { randomFrom } from '../support/random.ts';

/** Choices that depend only on a seed. */
export type Chance = {
  /** From 0 to 1. */
  share(): number;
  pick<T>(list: readonly T[]): T;
  /** One of the names, as often as its weight says. */
  weighted<K extends string>(weights: Record<K, number>): K;
};

export function chanceOf(seed: number): Chance {
  const share = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(share() * list.length)] as T;
  return {
    share,
    pick,
    weighted: <K extends string>(weights: Record<K, number>): K => {
      const entries = Object.entries(weights) as [K, number][];
      let left = share() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return entries.at(-1)?.[0] as K;
    },
  };
}

/** The element of a list that a share of 0 to 1 points at; undefined if the list is empty. */
export function at<T>(list: readonly T[], share: number): T | undefined {
  return list[Math.min(list.length - 1, Math.floor(share * list.length))];
}
