import { offeredTokens } from '../../chain/offered.ts';
import type { WalletConnectConfig } from '../../config.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { payeeName } from '../../merchants/payee-name.ts';
import { readBranding } from '../../partners/branding.ts';
import { readNextAllowed } from '../../plans/collect/read.ts';
import { planPageUrl, scopeOfLink } from '../../plans/link.ts';
import { automaticChains, withContract } from '../../plans/mandates/chains.ts';
import { type PlanFactsRow, readPlanFacts } from '../../plans/mandates/facts.ts';
import { type OfferedTerms, termsNow } from '../../plans/mandates/offer.ts';
import { type MandateRow, readLatestMandate } from '../../plans/mandates/read.ts';
import { type ChargeRow, listCharges } from '../../plans/read.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Branding } from '../../ui/branding.ts';
import type { Words } from '../../ui/language.ts';

/** Everything that a plan's page for its customer shows. */
export type PlanView = {
  scope: Scope;
  facts: PlanFactsRow;
  /** The name under which the customer knows whoever charges. */
  merchant: string;
  /** The latest agreement, in use or not. */
  mandate: MandateRow | null;
  /** What can be agreed to now, one for each network and token; empty if nothing can. */
  offered: OfferedTerms[];
  charges: ChargeRow[];
  /** The cursor after which the charges begin; null for the newest. */
  after: string | null;
  /** The cursor of the next charges; null at the end. */
  next: string | null;
  branding: Branding;
  walletConnect: WalletConnectConfig | null;
  /** What a test wallet can do; null outside the sandbox's test mode. */
  testPanel: Sandbox['planPanel'] | null;
  /** Until when the agreement allows no charge, for that panel; null if it allows one now, or there is none in use. */
  notChargedUntil: Date | null;
  /** Public address of the page, and its path. */
  url: string;
  path: string;
  words: Words;
};

/** Reads the page that a link leads to; null if the link is not valid. */
export async function readPlanView(
  ctx: Context,
  link: { planId: string; token: string },
  words: Words,
  after: string | null,
): Promise<PlanView | null> {
  const scope = await scopeOfLink(ctx, link.planId, link.token);
  const facts = scope && (await readPlanFacts(ctx, scope, link.planId.toLowerCase()));
  if (!facts) return null;
  const [mandate, { rows, next }, branding, offered] = await Promise.all([
    ctx.db.scoped(scope, (tx) => readLatestMandate(tx, scope, facts.id)),
    listCharges(ctx, scope, facts.id, after),
    readBranding(ctx, scope.partnerId),
    offeredTerms(ctx, facts),
  ]);
  const url = planPageUrl(ctx.config, facts.id);
  const testPanel = ctx.sandbox?.hasTestWallet(ctx, scope) ? ctx.sandbox.planPanel : null;
  return {
    ...{ scope, facts, merchant: payeeName(facts), mandate, offered, charges: rows, after, next, branding, words },
    walletConnect: ctx.config.walletConnect,
    testPanel,
    notChargedUntil: testPanel && mandate?.state === 'active' ? await blockedUntil(ctx, scope, mandate) : null,
    url,
    path: new URL(url).pathname,
  };
}

async function blockedUntil(ctx: Context, scope: Scope, mandate: MandateRow): Promise<Date | null> {
  const now = ctx.clock.now();
  const allowedAt = await ctx.db.scoped(scope, (tx) => readNextAllowed(tx, scope, mandate, now));
  return allowedAt > now ? allowedAt : null;
}

async function offeredTerms(ctx: Context, facts: PlanFactsRow): Promise<OfferedTerms[]> {
  if (facts.collect !== 'automatic' || facts.state === 'ended') return [];
  const found = automaticChains(ctx, facts.test_mode, facts.wallet_chain_ids);
  const places = 'chains' in found ? await withContract(found.chains) : [];
  const now = ctx.clock.now();
  return places
    .flatMap((place) => offeredTokens(place.chain).map((token) => termsNow(facts, place, token, now)))
    .filter((terms) => terms !== null);
}
