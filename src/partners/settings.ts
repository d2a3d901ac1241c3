import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { onPartner } from './audit-object.ts';
import { partnerFaults } from './rules.ts';
import { lockPartner, type Partner, type Settings, updateDisabled, updateSettings } from './store.ts';

/**
 * Changes a partner's name, currency, expiry values or e-mail address; absent ones stay. Existing requests and
 * merchants keep what they were created with.
 *
 * @returns false when there is no such partner
 * @throws Error with all faults as sentences
 */
export async function setPartnerSettings(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  slug: string,
  wanted: Partial<Settings>,
): Promise<boolean> {
  const done = await withAudit(
    ctx,
    actor,
    async ({ db }) => {
      // What another call saves meanwhile must not be missed: the entry says what changed.
      const before = await lockPartner(db, slug);
      if (!before) return null;
      const after = { ...before, ...wanted };
      const faults = partnerFaults({
        ...after,
        allowedExpiryMinutes: after.allowed_expiry_minutes,
        defaultExpiryMinutes: after.default_expiry_minutes,
      });
      if (faults.length > 0) throw new Error(faults.join(' '));
      if (Object.keys(wanted).length > 0) await updateSettings(db, slug, wanted);
      return { before, changes: changesOf(before, after) };
    },
    (set) =>
      set && Object.keys(set.changes).length > 0
        ? { ...onPartner(set.before), action: 'partner.changed', details: set.changes }
        : null,
  );
  return done !== null;
}

function changesOf(before: Settings, after: Settings) {
  return {
    ...(before.name !== after.name && { name: after.name }),
    ...(before.currency !== after.currency && { currency: after.currency }),
    ...(before.allowed_expiry_minutes.join() !== after.allowed_expiry_minutes.join() && {
      expiry_minutes: after.allowed_expiry_minutes.map(String),
    }),
    ...(before.default_expiry_minutes !== after.default_expiry_minutes && {
      default_expiry_minutes: after.default_expiry_minutes,
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
