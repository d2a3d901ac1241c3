import type { HostOwner } from '../../auth/host.ts';
import type { NewPasskey } from '../../auth/passkey.ts';
import type { UserKind } from '../../auth/user-session.ts';
import type { Sql, Tx } from '../../db/connection.ts';

/** A passkey as its owner sees it. */
export type Passkey = { id: string; name: string; created_at: Date; last_used_at: Date | null };

/** The passkeys of a user, the oldest first. */
export function selectPasskeys(sql: Sql | Tx, userId: string, limit: number) {
  return sql<(Passkey & { credential_id: Buffer })[]>`
    select id, name, created_at, last_used_at, credential_id from passkeys
    where user_id = ${userId} order by created_at, id limit ${limit}`;
}

/** A passkey with its owner. */
export type HolderRow = {
  id: string;
  name: string;
  public_key: Buffer;
  counter: string;
  user_id: string;
  partner_id: string | null;
  email: string;
};

/**
 * The passkey with this id whose owner may sign in to this realm on this host; both are locked until the transaction
 * ends.
 */
export async function lockPasskey(
  tx: Tx,
  credentialId: Buffer,
  kind: UserKind,
  host: HostOwner,
): Promise<HolderRow | null> {
  const [row] = await tx<HolderRow[]>`
    select k.id, k.name, k.public_key, k.counter, k.user_id, u.partner_id, u.email
    from passkeys k join users u on u.id = k.user_id left join partners p on p.id = u.partner_id
    where k.credential_id = ${credentialId} and u.disabled_at is null
      and (u.partner_id is null) = (${kind}::text = 'operator')
      and (${host ?? null}::text is null or p.slug = ${host ?? null})
    for no key update of k, u`;
  return row ?? null;
}

/** Stores a use of a passkey and its signature counter. */
export async function updatePasskeyUsed(tx: Tx, id: string, counter: number, now: Date): Promise<void> {
  await tx`update passkeys set counter = ${counter}, last_used_at = ${now} where id = ${id}`;
}

/** Stores a passkey; false if it is already stored for somebody. */
export async function insertPasskey(
  tx: Tx | Sql,
  passkey: NewPasskey & { id: string; userId: string; partnerId: string | null; name: string; createdAt: Date },
): Promise<boolean> {
  const { id, userId, partnerId, credentialId, publicKey, counter, name, createdAt } = passkey;
  const { count } = await tx`
    insert into passkeys (id, partner_id, user_id, credential_id, public_key, counter, name, created_at)
    values (${id}, ${partnerId}, ${userId}, ${credentialId}, ${publicKey}, ${counter}, ${name}, ${createdAt})
    on conflict (credential_id) do nothing`;
  return count === 1;
}

/** Deletes a passkey of a user. Returns its name; null if the user has no such passkey. */
export async function deletePasskey(tx: Tx | Sql, userId: string, id: string): Promise<string | null> {
  const [row] = await tx<{ name: string }[]>`
    delete from passkeys where user_id = ${userId} and id = ${id} returning name`;
  return row?.name ?? null;
}

/** Deletes all passkeys of a user; returns how many. */
export async function deletePasskeysOf(tx: Tx, partnerId: string | null, userId: string): Promise<number> {
  const { count } = await tx`
    delete from passkeys where partner_id is not distinct from ${partnerId}::uuid and user_id = ${userId}`;
  return count;
}

/** The ids of a partner's users who have passkeys. */
export async function selectHolders(tx: Tx, partnerId: string): Promise<string[]> {
  const rows = await tx<{ user_id: string }[]>`
    select distinct user_id from passkeys where partner_id = ${partnerId}`;
  return rows.map(({ user_id }) => user_id);
}
