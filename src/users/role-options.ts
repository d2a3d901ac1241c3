import { roles } from '../auth/roles.ts';
import type { Html } from '../lib/text/html.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { optionList } from '../ui/components.ts';
import type { Words } from '../ui/language.ts';

/** The roles of a partner's user, as options of a `<select>`. */
export function roleOptions(words: Words, chosen: string): Html[] {
  const { account } = signInTexts(words);
  return optionList(
    roles.map((role) => [role, account.roles[role]]),
    chosen,
  );
}
