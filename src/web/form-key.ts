import { randomUUID } from 'node:crypto';
import type { Html } from '../lib/text/html.ts';
import { hiddenField } from '../ui/components.ts';
import type { Call } from './pages.ts';

/** No key of ours is longer. */
const longest = 100;

/** A field by which a form that creates a secret is recognised when it is sent again. */
export const formKeyField = (): Html => hiddenField('form', randomUUID());

/** The key of the form that was sent; null where it had none. */
export const formKeyOf = ({ typed }: Pick<Call, 'typed'>): string | null => typed('form').slice(0, longest) || null;
