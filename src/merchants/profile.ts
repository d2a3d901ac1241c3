import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import {
  type RecipientQuota,
  recipientSubject,
  takeAllOrNone,
  takeDailyQuota,
  takeRecipientQuota,
} from '../auth/daily-quota.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { mailboxOf } from '../lib/text/email.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { type NewMail, queueMail } from '../mail/outbox.ts';
import { isKnownCurrency } from '../rates/read.ts';
import { isUntouched, shownIn } from '../web/shown.ts';
import { furtherLimits, readDetails } from './details.ts';
import { type Profile, selectProfile, updateProfile } from './profile-store.ts';
import { type DetailFault, MerchantRefusal } from './refusal.ts';

/** `changedTooOften` is a fault of the e-mail address. */
export type ProfileFault = DetailFault | 'changedTooOften';
/** The result of submitting a profile: the names of changed fields, or which fields are wrong and how. */
export type ProfileOutcome = { changed: string[]; currency: string } | { faults: Record<string, ProfileFault> };

type ProfileForm = Record<string, string | undefined>;

const profileFields = [
  'display_name',
  'business_name',
  'country',
  'phone',
  'website',
  'instagram',
  'industry',
  'email',
  'display_currency',
] as const satisfies (keyof Profile)[];

/** A profile as the fields of its form hold it. */
export const profileTexts = (profile: Profile): Record<keyof Profile, string> =>
  Object.fromEntries(profileFields.map((name) => [name, profile[name] ?? ''])) as Record<keyof Profile, string>;

/** What a form that was sent had shown; undefined where it does not say. */
export const shownProfile = (form: ProfileForm) => shownIn(profileFields, (name) => form[name]);

/** A submitted profile. `notice`: the mail to the earlier address, if the address changes. */
export type ProfileChange = { accountId: string; typed: ProfileForm; notice: Omit<NewMail, 'recipient'> };

/**
 * Per merchant and day (UTC). Each change mails the earlier address, and nobody has proved that it is the merchant's.
 */
const maxEmailChanges = 10;
/** How many such mails a day one mailbox is sent: whoever can become one merchant can become many. */
const maxNotices: RecipientQuota = { ofPartner: 50, ofMerchant: maxEmailChanges };

/**
 * Changes what of a merchant's profile differs from what the form showed. If its e-mail address changes, the earlier
 * address is notified.
 *
 * @throws Refusal not_found
 */
export async function changeProfile(
  ctx: Pick<Context, 'config' | 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  { accountId, typed, notice }: ProfileChange,
): Promise<ProfileOutcome> {
  const { profile, faults } = readProfile(typed);
  if (!(await isKnownCurrency(ctx.db, profile.display_currency))) faults.display_currency = 'notACurrency';
  if (Object.keys(faults).length > 0) return { faults };
  return ctx.db.scoped(scope, async (tx) => {
    const before = await selectProfile(tx, scope, accountId);
    if (!before) throw refuse('not_found');
    const shown = shownProfile(typed);
    const touched = profileFields.filter((name) => !isUntouched(shown[name], typed[name] ?? ''));
    const changed = touched.filter((name) => profile[name] !== before[name]);
    const after = { ...before, ...Object.fromEntries(changed.map((name) => [name, profile[name]])) };
    const left = changed.includes('email') ? before.email : null;
    if (left !== null && !(await mayLeave(ctx, tx, scope, { accountId, left })))
      return { faults: { email: 'changedTooOften' } };
    if (changed.length > 0) await updateProfile(tx, scope, accountId, after);
    if (left !== null) await queueMail(ctx, tx, scope.partnerId, { recipient: left, ...notice });
    const currency = after.display_currency;
    if (changed.length > 0) {
      const object = { kind: 'merchant' as const, id: accountId };
      await audit(ctx, tx, actor, {
        ...scope,
        action: 'merchant.changed',
        object,
        details: { fields: changed, currency },
      });
    }
    return { changed, currency };
  });
}

/** Counts a change that leaves an address; false when a limit is reached. */
function mayLeave(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  scope: Scope,
  { accountId, left }: { accountId: string; left: string },
): Promise<boolean> {
  const person = recipientSubject(config, scope, mailboxOf(left));
  return takeAllOrNone(
    tx,
    async (inner) =>
      (await takeDailyQuota(inner, scope, 'email_change', { subject: accountId, max: maxEmailChanges })) &&
      takeRecipientQuota(inner, scope, 'email_change_mail', { accountId, person, max: maxNotices }),
  );
}

function readProfile(typed: ProfileForm): { profile: Profile; faults: Record<string, ProfileFault> } {
  const faults: Record<string, ProfileFault> = {};
  const line = (name: keyof typeof furtherLimits) => {
    const text = oneLine(typed[name] ?? '') || null;
    if (text !== null && [...text].length > furtherLimits[name]) faults[name] = 'tooLong';
    return text;
  };
  const profile: Profile = {
    display_name: null,
    business_name: null,
    country: null,
    phone: null,
    website: null,
    email: null,
    instagram: line('instagram'),
    industry: line('industry'),
    display_currency: typed.display_currency ?? '',
  };
  try {
    const { details, email } = readDetails(typed);
    return { profile: { ...profile, ...details, email }, faults };
  } catch (error) {
    if (!(error instanceof MerchantRefusal)) throw error;
    return { profile, faults: { ...faults, ...error.faults } };
  }
}
