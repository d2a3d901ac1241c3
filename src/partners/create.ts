import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { onPartner } from './audit-object.ts';
import { isReservedSlug, type NewPartner, partnerFaults } from './rules.ts';
import { insertPartner, type Partner } from './store.ts';

/** There is already a partner of that slug. */
export class SlugTaken extends Error {}

/**
 * Creates a partner.
 *
 * @throws SlugTaken
 * @throws Error with all faults as sentences
 */
export async function createPartner(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  partner: NewPartner,
): Promise<Partner> {
  const faults = partnerFaults(partner);
  if (isReservedSlug(partner.slug)) {
    faults.push(`"${partner.slug}" is reserved for the service itself; choose another slug.`);
  }
  if (faults.length > 0) throw new Error(faults.join(' '));
  const { slug, currency } = partner;
  return withAudit(
    ctx,
    actor,
    async ({ db }) => {
      const created = await insertPartner(db, randomUUID(), partner);
      if (!created) throw new SlugTaken(`A partner "${slug}" already exists.`);
      return created;
    },
    (created) => ({ ...onPartner(created), action: 'partner.created', details: { slug, currency } }),
  );
}
