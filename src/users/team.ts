import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';

/** The users of a partner, named by its scope in either mode, or the operators. */
export type Team = Scope | 'operators';

/** The maximum size of a team. */
export const maxTeam = 1000;

export function partnerOf(team: Team): string | null {
  return team === 'operators' ? null : team.partnerId;
}

/** Runs work in a transaction that sees the users of one team; operators belong to no scope. */
export function inTeam<T>(ctx: Pick<Context, 'db'>, team: Team, work: (tx: Tx) => Promise<T>): Promise<T> {
  return team === 'operators' ? ctx.db.transaction(work) : ctx.db.scoped(team, work);
}
