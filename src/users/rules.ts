import { isOneAddress } from '../lib/text/email.ts';

/** An e-mail address as it is stored, in lower case; null if the text is no e-mail address. */
export function emailFrom(text: string): string | null {
  const email = text.trim().toLowerCase();
  return isOneAddress(email) && !/\p{Cc}/u.test(email) ? email : null;
}

type Owner = { id: string; role: string | null; disabled_at: Date | null };

/** Whether the partner would have no owner who can sign in without this user. Operators have no role, so no owner. */
export function isLastOwner(users: Owner[], id: string): boolean {
  const owners = users.filter(({ role, disabled_at }) => role === 'owner' && disabled_at === null);
  return owners.length === 1 && owners[0]?.id === id;
}
