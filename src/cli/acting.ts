import type { Actor } from '../audit/actions.ts';
import type { Context } from '../context.ts';
import { readPartner } from '../partners/read.ts';
import type { Partner } from '../partners/store.ts';

/** Whoever can run commands has the service's own keys: the log says no more of them. */
export const commandLine: Actor = { kind: 'command_line' };

/** A partner that must be there. */
export async function mustReadPartner(ctx: Context, slug: string): Promise<Partner> {
  const partner = await readPartner(ctx.db, slug);
  if (!partner) throw new Error(`There is no partner "${slug}".`);
  return partner;
}
