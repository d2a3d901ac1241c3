import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { parseHex } from '../lib/text/color.ts';
import type { MailBranding } from '../mail/layout.ts';
import { accentStyle, type Branding, houseName, lightAccent } from '../ui/branding.ts';
import { onPartner } from './audit-object.ts';
import { logoFrom, logoPath } from './logo.ts';
import { isPartnerName, partnerNameRule } from './rules.ts';
import { type BrandingUpdate, type Partner, selectBranding, updateBranding } from './store.ts';

/**
 * The wanted changes, as a person enters them; absent fields stay, null removes. `logo` is the bytes of an image file.
 */
export type BrandingChange = { name?: string; accent?: string | null; logo?: Buffer | null };

/**
 * Sets a partner's name, accent colour and logo, all or none.
 *
 * @returns null when there is no such partner
 * @throws Error with a sentence when one of them is invalid, or nothing changes
 */
export async function setBranding(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  slug: string,
  wanted: BrandingChange,
): Promise<Partner | null> {
  const change: BrandingUpdate = {};
  if (wanted.name !== undefined) {
    if (!isPartnerName(wanted.name)) throw new Error(partnerNameRule);
    change.name = wanted.name;
  }
  if (wanted.accent !== undefined) change.accent = wanted.accent === null ? null : accentFrom(wanted.accent);
  if (wanted.logo !== undefined) change.logo = wanted.logo === null ? null : logoFrom(wanted.logo);
  if (Object.keys(change).length === 0) throw new Error('Nothing to change: give a name, an accent or a logo.');
  const { logo, ...rest } = wanted;
  // A logo is too much for the log: it says whether there is one.
  const details = { ...rest, ...(logo !== undefined && { logo: logo !== null }) };
  return withAudit(
    ctx,
    actor,
    ({ db }) => updateBranding(db, slug, change),
    (changed) => changed && { ...onPartner(changed), action: 'partner.changed', details },
  );
}

function accentFrom(text: string): string {
  const accent = parseHex(text);
  if (accent === null) throw new Error(`"${text}" is not a colour; write it like "#0a7" or "#00aa77", in quotes.`);
  return accent;
}

/** Changed branding appears within this time. */
const keptMs = 5000;
const maxKept = 1000;
type Kept = { branding: Branding; readAtMs: number };
const keptBrandings = new WeakMap<Database, Map<string, Kept>>();

/**
 * A partner's branding, from one statement or from what this process read in the last seconds.
 *
 * @throws Refusal `not_found` when there is no such partner
 */
export async function readBranding(ctx: Context, partnerId: string): Promise<Branding> {
  const kept = keptBrandings.get(ctx.db) ?? new Map<string, Kept>();
  keptBrandings.set(ctx.db, kept);
  const nowMs = ctx.clock.now().getTime();
  const known = kept.get(partnerId);
  if (known && Math.abs(nowMs - known.readAtMs) < keptMs) return known.branding;
  const row = await selectBranding(ctx.db, partnerId);
  if (!row) throw refuse('not_found');
  const branding: Branding = {
    name: row.name,
    logoPath: logoPath(row),
    accentStyle: row.accent === null ? null : accentStyle(row.accent),
  };
  if (kept.size >= maxKept) kept.clear();
  kept.set(partnerId, { branding, readAtMs: nowMs });
  return branding;
}

/** Makes the next page of this process read a partner's branding again, after a change. */
export function invalidateBranding({ db }: Pick<Context, 'db'>, partnerId: string): void {
  keptBrandings.get(db)?.delete(partnerId);
}

/** Our own accent, the same as in `style.css`. */
export const houseAccent = '#2769b7';

/** The branding of mails that no partner sends. */
export const houseBranding: MailBranding = { name: houseName, logoUrl: null, ...lightAccent(houseAccent) };

/** What of a partner its mails show. */
export type MailSender = { slug: string; name: string; accent: string | null; logo_hash: string | null };

/** The branding of a partner's mails. */
export function mailBrandingOf({ config }: Pick<Context, 'config'>, sender: MailSender): MailBranding {
  const path = logoPath(sender);
  return {
    name: sender.name,
    logoUrl: path === null ? null : config.baseUrl + path,
    ...lightAccent(sender.accent ?? houseAccent),
  };
}

/**
 * As `mailBrandingOf`, read now; our own branding if there is no partner (null).
 *
 * @throws Refusal `not_found` when there is no such partner
 */
export async function readMailBranding(
  ctx: Pick<Context, 'db' | 'config'>,
  partnerId: string | null,
): Promise<MailBranding> {
  if (partnerId === null) return houseBranding;
  const row = await selectBranding(ctx.db, partnerId);
  if (!row) throw refuse('not_found');
  return mailBrandingOf(ctx, row);
}
