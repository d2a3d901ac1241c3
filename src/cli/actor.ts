import type { Actor } from '../audit/actions.ts';
import type { Context } from '../context.ts';
import { readPartner } from '../partners/read.ts';
import type { Partner } from '../partners/store.ts';

/** Whoever can run commands has the service's own keys, so the audit log cannot say who it was. */
export const commandLine: Actor = { kind: 'command_line' };

/** The error for a slug that no partner has. */
export const unknownPartner = (slug: string): Error => new Error(`There is no partner "${slug}".`);

/** Reads a partner. Throws a sentence if there is none with this slug. */
export async function mustReadPartner(ctx: Context, slug: string): Promise<Partner> {
  const partner = await readPartner(ctx.db, slug);
  if (!partner) throw unknownPartner(slug);
  return partner;
}
