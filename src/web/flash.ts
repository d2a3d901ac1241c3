import type { Html } from '../lib/text/html.ts';
import type { Call } from './pages.ts';
import { notice } from './shell.ts';

/** What a page says after a form, by the word in `?done=`: what was done, or why nothing was done. */
export type Flashes = { done?: Readonly<Record<string, string>>; refused?: Readonly<Record<string, string>> };

/** The sentence for the word in `?done=`; null without one, and for an unknown word. */
export function flashOf({ request }: Pick<Call, 'request'>, { done = {}, refused = {} }: Flashes): Html | null {
  const { done: word } = request.query as { done?: unknown };
  if (typeof word !== 'string') return null;
  const text = Object.entries(done).find(([name]) => name === word)?.[1];
  if (text !== undefined) return notice('paid', text);
  const why = Object.entries(refused).find(([name]) => name === word)?.[1];
  return why === undefined ? null : notice('attention', why);
}
