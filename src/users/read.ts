import type { Context } from '../context.ts';
import { selectUsers, type User } from './store.ts';
import { inTeam, maxTeam, partnerOf, type Team } from './team.ts';

export type { User } from './store.ts';
export type { Team } from './team.ts';

/** The users of a partner, or the operators, by e-mail address, including disabled ones. */
export function listUsers(ctx: Pick<Context, 'db'>, team: Team): Promise<User[]> {
  return inTeam(ctx, team, (tx) => selectUsers(tx, partnerOf(team), maxTeam));
}
