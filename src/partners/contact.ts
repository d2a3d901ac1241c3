import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { onPartner } from './audit-object.ts';
import { emailFault } from './rules.ts';
import { lockPartner, type Partner, updateEmail } from './store.ts';

/**
 * Sets the address to which a partner is mailed when it must act; null removes it.
 *
 * @returns null when there is no such partner
 * @throws Error with a sentence when it is not an e-mail address
 */
export async function setPartnerEmail(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  slug: string,
  email: string | null,
): Promise<Partner | null> {
  const fault = emailFault(email);
  if (fault) throw new Error(fault);
  const saved = await withAudit(
    ctx,
    actor,
    async ({ db }) => {
      const before = await lockPartner(db, slug);
      if (!before) return null;
      return { before, after: before.email === email ? null : await updateEmail(db, slug, email) };
    },
    (done) => (done?.after ? { ...onPartner(done.after), action: 'partner.changed', details: { email } } : null),
  );
  return saved && (saved.after ?? saved.before);
}
