import type { Words } from './language.ts';

/** An act of the audit log in words; one that has none by its name. */
export function actName({ t }: Words, action: string): string {
  return Object.entries(t.portal.audit.actions).find(([name]) => name === action)?.[1] ?? action;
}

/** What an act was done on, in words. */
export function objectName({ t }: Words, kind: string): string {
  return Object.entries(t.portal.audit.objects).find(([name]) => name === kind)?.[1] ?? kind;
}
