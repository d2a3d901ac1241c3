import type { Html } from '../lib/text/html.ts';
import { hiddenField } from '../ui/components.ts';

const nameOf = (field: string) => `shown_${field}`;

/**
 * Hidden fields that say what a form's fields held when it was opened. The server then changes only what its sender
 * changed: somebody else may have changed the rest since.
 *
 * @param values undefined where a form that is shown again did not say
 */
export const shownFields = (values: Record<string, string | undefined>): Html[] =>
  Object.entries(values).flatMap(([field, value]) => (value === undefined ? [] : [hiddenField(nameOf(field), value)]));

/**
 * What a form that was sent had shown.
 *
 * @param sent a value of the form; undefined if it was not sent
 */
export const shownIn = <Field extends string>(
  fields: readonly Field[],
  sent: (name: string) => string | undefined,
): Record<Field, string | undefined> =>
  Object.fromEntries(fields.map((field) => [field, sent(nameOf(field))])) as Record<Field, string | undefined>;

/** Whether a field was left as it was shown; false if the form does not say. */
export const isUntouched = (shown: string | undefined, typed: string): boolean => shown?.trim() === typed.trim();
