import type { Role } from '../auth/roles.ts';
import type { Sql, Tx } from '../db/connection.ts';
import { assignment } from '../db/sql.ts';
import type { Language } from '../ui/language.ts';

/** A user, who signs in by e-mail; `partner_id` and `role` are null for an operator. */
export type User = {
  id: string;
  partner_id: string | null;
  email: string;
  role: Role | null;
  created_at: Date;
  last_sign_in_at: Date | null;
  disabled_at: Date | null;
  /** The language of the last sign-in, in which mails are written; null before the first. */
  language: string | null;
};

/** Stores a user; null if the same partner, or the operators, already have a user with this address. */
export async function insertUser(
  tx: Tx,
  user: Omit<User, 'last_sign_in_at' | 'disabled_at' | 'language'>,
): Promise<User | null> {
  const [row] = await tx<User[]>`
    insert into users (id, partner_id, email, role, created_at)
    values (${user.id}, ${user.partner_id}, ${user.email}, ${user.role}, ${user.created_at})
    on conflict (partner_id, email) do nothing returning *`;
  return row ?? null;
}

/** Locks the team of a partner, or the operators (null): nobody else can join until the transaction ends. */
export async function lockTeam(tx: Tx, partnerId: string | null): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`team ${partnerId}`}, 0))`;
}

/** All users of a partner, or all operators (null), by e-mail address. */
export function selectUsers(tx: Tx, partnerId: string | null, limit: number): Promise<User[]> {
  return tx<User[]>`
    select * from users where partner_id is not distinct from ${partnerId}::uuid order by email limit ${limit}`;
}

/**
 * As `selectUsers`, and locks the users in one order until the transaction ends, so that two changes together cannot
 * remove the last one.
 */
export function lockUsers(tx: Tx, partnerId: string | null, limit: number): Promise<User[]> {
  return tx<User[]>`
    select * from users where partner_id is not distinct from ${partnerId}::uuid order by id limit ${limit} for update`;
}

/** Locks a user until the transaction ends: meanwhile nobody disables them, or adds a passkey of theirs. */
export async function lockUser(tx: Tx | Sql, userId: string): Promise<void> {
  await tx`select from users where id = ${userId} for no key update`;
}

export async function updateUser(
  tx: Tx,
  partnerId: string | null,
  id: string,
  change: Partial<Pick<User, 'role' | 'disabled_at'>>,
): Promise<User> {
  const [row] = await tx<User[]>`
    update users set ${assignment(change)} where partner_id is not distinct from ${partnerId}::uuid and id = ${id} returning *`;
  if (!row) throw new Error('a user that was read no longer exists');
  return row;
}

/** Stores the language in which a user signs in. */
export async function updateUserLanguage(tx: Tx, userId: string, language: Language): Promise<void> {
  await tx`update users set language = ${language} where id = ${userId} and language is distinct from ${language}`;
}

/** Stores the time of a user's sign-in. */
export async function updateSignedIn(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx`update users set last_sign_in_at = ${now} where id = ${userId}`;
}
