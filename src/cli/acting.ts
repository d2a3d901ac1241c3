import type { Actor, AuditEntry } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { readPartner } from '../partners/read.ts';
import type { Partner } from '../partners/store.ts';

/** Whoever can run commands has the service's own keys: the log says no more of them. */
export const commandLine: Actor = { kind: 'command_line' };

/** Does what a command asks for and writes it into the audit log, both or neither. */
export function recorded<T>(
  ctx: Context,
  work: (inner: Context) => Promise<T>,
  told: (result: T) => AuditEntry | null,
): Promise<T> {
  return withAudit(ctx, commandLine, work, told);
}

/** A partner that must be there. */
export async function mustReadPartner(ctx: Context, slug: string): Promise<Partner> {
  const partner = await readPartner(ctx.db, slug);
  if (!partner) throw new Error(`There is no partner "${slug}".`);
  return partner;
}
