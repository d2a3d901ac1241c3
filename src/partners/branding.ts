import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { parseHex } from '../lib/text/color.ts';
import type { MailLook } from '../mail/layout.ts';
import { accentStyle, type Look, lightAccent } from '../ui/branding.ts';
import { logoFrom, logoPath } from './logo.ts';
import { type LookChange, type Partner, selectLook, updateLook } from './store.ts';

export type { MailLook } from '../mail/layout.ts';

/** What is to change, as a person says it; what is absent stays, null takes away. `logo` is a picture file's bytes. */
export type WantedLook = { name?: string; accent?: string | null; logo?: Buffer | null };

/**
 * Sets a partner's name, accent colour and logo, all or none.
 *
 * @returns null when there is no such partner
 * @throws Error with a sentence when one of them cannot be taken, or nothing is to change
 */
export async function setLook(db: Database, slug: string, wanted: WantedLook): Promise<Partner | null> {
  const change: LookChange = {};
  if (wanted.name !== undefined) {
    if (wanted.name.trim() === '') throw new Error('The name must not be empty.');
    change.name = wanted.name;
  }
  if (wanted.accent !== undefined) change.accent = wanted.accent === null ? null : accentFrom(wanted.accent);
  if (wanted.logo !== undefined) change.logo = wanted.logo === null ? null : logoFrom(wanted.logo);
  if (Object.keys(change).length === 0) throw new Error('Nothing is to change: give a name, an accent or a logo.');
  return updateLook(db, slug, change);
}

function accentFrom(text: string): string {
  const accent = parseHex(text);
  if (accent === null) throw new Error(`"${text}" is no colour; write it like "#0a7" or "#00aa77", in quotes.`);
  return accent;
}

/** A changed look shows after so long at the latest. */
const keptMs = 5000;
const maxKept = 1000;
type Kept = { look: Look; readAtMs: number };
const keptLooks = new WeakMap<Database, Map<string, Kept>>();

/**
 * How a partner's pages look: one statement, or what this process read in the last seconds.
 *
 * @throws Refusal `not_found` when there is no such partner
 */
export async function readLook(ctx: Context, partnerId: string): Promise<Look> {
  const kept = keptLooks.get(ctx.db) ?? new Map<string, Kept>();
  keptLooks.set(ctx.db, kept);
  const nowMs = ctx.clock.now().getTime();
  const known = kept.get(partnerId);
  if (known && Math.abs(nowMs - known.readAtMs) < keptMs) return known.look;
  const row = await selectLook(ctx.db, partnerId);
  if (!row) throw refuse('not_found');
  const look: Look = {
    name: row.name,
    logoPath: logoPath(row),
    accentStyle: row.accent === null ? null : accentStyle(row.accent),
  };
  if (kept.size >= maxKept) kept.clear();
  kept.set(partnerId, { look, readAtMs: nowMs });
  return look;
}

/** Reads a partner's look anew for the next page of this process, after a change. */
export function forgetLook({ db }: Pick<Context, 'db'>, partnerId: string): void {
  keptLooks.get(db)?.delete(partnerId);
}

/** The house's own accent, as `style.css` has it. */
const houseAccent = '#2769b7';

/** How mails look that no partner sends. */
export const houseLook: MailLook = { name: 'Quittance', logoUrl: null, ...lightAccent(houseAccent) };

/** A partner as far as its mails' look goes. */
export type MailSender = { slug: string; name: string; accent: string | null; logo_hash: string | null };

/** How a partner's mails look. */
export function mailLookOf({ config }: Pick<Context, 'config'>, sender: MailSender): MailLook {
  const path = logoPath(sender);
  return {
    name: sender.name,
    logoUrl: path === null ? null : config.baseUrl + path,
    ...lightAccent(sender.accent ?? houseAccent),
  };
}

/**
 * The same, read now; the house's look where there is no partner (null).
 *
 * @throws Refusal `not_found` when there is no such partner
 */
export async function readMailLook(ctx: Pick<Context, 'db' | 'config'>, partnerId: string | null): Promise<MailLook> {
  if (partnerId === null) return houseLook;
  const row = await selectLook(ctx.db, partnerId);
  if (!row) throw refuse('not_found');
  return mailLookOf(ctx, row);
}
