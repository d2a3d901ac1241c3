import { randomUUID } from 'node:crypto';
import type { Html } from '../lib/text/html.ts';
import { hiddenField } from '../ui/components.ts';
import type { Call } from './pages.ts';

/** Our keys are shorter; a longer value is cut. */
const longest = 100;

/** A hidden field with a new key, by which a form that creates something is recognised when it is sent again. */
export const formKeyField = (): Html => hiddenField('form', randomUUID());

/** The key of the submitted form; null if it had none. */
export const formKeyOf = ({ typed }: Pick<Call, 'typed'>): string | null => typed('form').slice(0, longest) || null;
