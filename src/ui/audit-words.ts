import { auditTexts } from '../texts/audit.ts';
import { fill, type Words } from './language.ts';

/** An act of the audit log in words; one that has none by its name. */
export function actName(words: Words, action: string): string {
  return Object.entries(auditTexts(words).actions).find(([name]) => name === action)?.[1] ?? action;
}

/** What an act was done on, in words. */
export function objectName(words: Words, kind: string): string {
  return Object.entries(auditTexts(words).objects).find(([name]) => name === kind)?.[1] ?? kind;
}

/** Who did it, in words: people by their address, merchants by their wallet. */
export function whoName(words: Words, row: { actor_kind: string; actor_name: string }): string {
  const { actors } = auditTexts(words);
  const { actor_kind: kind, actor_name: name } = row;
  if (kind === 'api_key') return fill(actors.api_key, { key: name.replace(/^API key /, '') });
  return kind === 'command_line' || kind === 'service' ? actors[kind] : name;
}
