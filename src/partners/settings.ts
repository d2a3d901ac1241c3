import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { onPartner } from './audit-object.ts';
import { type NewPartner, partnerFaults } from './rules.ts';
import { lockPartner, type Partner, updateDisabled, updateSettings } from './store.ts';

/**
 * Sets a partner's name, currency, expiry values and e-mail address. Existing requests and merchants keep what they
 * were created with.
 *
 * @returns false when there is no such partner
 * @throws Error with all faults as sentences
 */
export async function setPartnerSettings(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  wanted: NewPartner,
): Promise<boolean> {
  const faults = partnerFaults(wanted);
  if (faults.length > 0) throw new Error(faults.join(' '));
  const done = await withAudit(
    ctx,
    actor,
    async ({ db }) => {
      // What another call saves meanwhile must not be missed: the entry says what changed.
      const before = await lockPartner(db, wanted.slug);
      if (!before) return null;
      await updateSettings(db, wanted.slug, {
        name: wanted.name,
        currency: wanted.currency,
        allowed_expiry_minutes: wanted.allowedExpiryMinutes,
        default_expiry_minutes: wanted.defaultExpiryMinutes,
        email: wanted.email,
      });
      return { before, changes: changesOf(before, wanted) };
    },
    (set) =>
      set && Object.keys(set.changes).length > 0
        ? { ...onPartner(set.before), action: 'partner.changed', details: set.changes }
        : null,
  );
  return done !== null;
}

function changesOf(before: Partner, after: NewPartner) {
  return {
    ...(before.name !== after.name && { name: after.name }),
    ...(before.currency !== after.currency && { currency: after.currency }),
    ...(before.allowed_expiry_minutes.join() !== after.allowedExpiryMinutes.join() && {
      expiry_minutes: after.allowedExpiryMinutes.map(String),
    }),
    ...(before.default_expiry_minutes !== after.defaultExpiryMinutes && {
      default_expiry_minutes: after.defaultExpiryMinutes,
    }),
    ...(before.email !== after.email && { email: after.email }),
  };
}

/**
 * Switches a partner off or on.
 *
 * @returns the partner as it is now; null when there is none
 */
export async function setPartnerDisabled(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  slug: string,
  disabled: boolean,
): Promise<Partner | null> {
  const switched = await withAudit(
    ctx,
    actor,
    ({ db }) => updateDisabled(db, slug, disabled),
    (done) =>
      done?.turned
        ? { ...onPartner(done.partner), action: disabled ? 'partner.disabled' : 'partner.enabled', details: {} }
        : null,
  );
  return switched?.partner ?? null;
}
