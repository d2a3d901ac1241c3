import { globSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Language } from '../../src/ui/language.ts';

/** Texts by key, in groups. A text with a count is a group of its plural forms. */
export type Group = { [key: string]: string | Group };

/** True for the forms of one text by plural category. */
export function isPlural(group: Group): group is { [category: string]: string; other: string } {
  const keys = Object.keys(group);
  return keys.includes('other') && keys.every((key) => /^(zero|one|two|few|many|other)$/.test(key));
}

/** All texts of a language by area, and within it by key: `{ pay: { statusMessage: { … } }, … }`. */
export async function allTexts(language: Language): Promise<Record<string, Group>> {
  const areas = globSync(`src/texts/*/${language}.ts`).sort();
  const read = async (file: string) => ((await import(resolve(file))) as Record<string, Group>)[language] as Group;
  return Object.fromEntries(await Promise.all(areas.map(async (file) => [basename(dirname(file)), await read(file)])));
}
