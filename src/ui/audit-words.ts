import { fill, type Words } from './language.ts';

/** An act of the audit log in words; one that has none by its name. */
export function actName({ t }: Words, action: string): string {
  return Object.entries(t.portal.audit.actions).find(([name]) => name === action)?.[1] ?? action;
}

/** What an act was done on, in words. */
export function objectName({ t }: Words, kind: string): string {
  return Object.entries(t.portal.audit.objects).find(([name]) => name === kind)?.[1] ?? kind;
}

/** Who did it, in words: people by their address, merchants by their wallet. */
export function whoName({ t }: Words, row: { actor_kind: string; actor_name: string }): string {
  const { actors } = t.portal.audit;
  const { actor_kind: kind, actor_name: name } = row;
  if (kind === 'api_key') return fill(actors.api_key, { key: name.replace(/^API key /, '') });
  return kind === 'command_line' || kind === 'service' ? actors[kind] : name;
}
