import { auditTexts } from '../texts/audit.ts';
import { fill, type Words } from './language.ts';

/** The text for an action of the audit log; the action's name if there is none. */
export function actName(words: Words, action: string): string {
  return Object.entries(auditTexts(words).actions).find(([name]) => name === action)?.[1] ?? action;
}

/** The text for the kind of an action's target. */
export function objectName(words: Words, kind: string): string {
  return Object.entries(auditTexts(words).objects).find(([name]) => name === kind)?.[1] ?? kind;
}

/** The actor as text: users by their e-mail address, merchants by their wallet. */
export function whoName(words: Words, row: { actor_kind: string; actor_name: string }): string {
  const { actors } = auditTexts(words);
  const { actor_kind: kind, actor_name: name } = row;
  if (kind === 'api_key') return fill(actors.api_key, { key: name.replace(/^API key /, '') });
  return kind === 'command_line' || kind === 'service' ? actors[kind] : name;
}
