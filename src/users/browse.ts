import type { Context } from '../context.ts';
import { isUuid } from '../lib/ids.ts';
import { batchesOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type ListedUser, selectAllUsers, selectUser, type UserFilter } from './browse-store.ts';

export type { ListedUser, UserFilter } from './browse-store.ts';

const cursorOf = ({ id, email }: ListedUser) => `${id} ${email}`;
function placeOf(cursor: string | null): { email: string; id: string } | null {
  const [id = '', email = ''] = cursor?.split(' ') ?? [];
  return isUuid(id) ? { id, email } : null;
}
const readFrom =
  (ctx: Context, filter: UserFilter): ReadFrom<ListedUser> =>
  (after, limit) =>
    ctx.db.transaction((tx) => selectAllUsers(tx, filter, placeOf(after), limit));

/** For operators: one page of the users of all partners and of the operators, by e-mail address. */
export const browseUsers = (ctx: Context, filter: UserFilter, after: string | null) =>
  readPage(readFrom(ctx, filter), cursorOf, after);

/** For operators: all of these users, in batches. */
export const exportUsers = (ctx: Context, filter: UserFilter) => batchesOf(readFrom(ctx, filter), cursorOf);

/** For operators: a user of any team; null for an unknown id. */
export async function readAnyUser(ctx: Context, id: string): Promise<ListedUser | null> {
  return isUuid(id) ? selectUser(ctx.db.sql, id) : null;
}
