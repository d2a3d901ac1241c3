import type { Mode } from '../lib/mode.ts';
import { isWithoutDatabase } from './running.ts';

/** What `doctor` reports of one thing, and what to do about it; empty if all is well. */
export type Finding = { check: string; state: 'ok' | 'attention' | 'failed'; advice: string };

/** The result of a check that uses the database; null if the database cannot be used, which `doctor` reports once. */
export async function ifReachable<T>(asked: PromiseLike<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (isWithoutDatabase(error)) return null;
    throw error;
  }
}

/** What to do about a webhook secret that no key decrypts. */
export function replaceSecretAdvice(slug: string, mode: Mode): string {
  const at = `--partner ${slug} --mode ${mode}`;
  return `Run webhook rotate ${at}, give the partner the new secret, then run webhook activate ${at}.`;
}
