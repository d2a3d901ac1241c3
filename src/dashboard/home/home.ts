import { endMerchantSession } from '../../auth/end-session.ts';
import { clearSessionCookie } from '../../auth/session-cookie.ts';
import { offeredChains } from '../../chain/offered.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { countedOpen, countOpenPayments } from '../../payments/unmatched/by-merchant.ts';
import { latestByMerchant, sumByDay } from '../../requests/lists/by-merchant.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, stateLine } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { countedUpTo, instant } from '../../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../../ui/language.ts';
import { readOpenRecovery } from '../../wallets/recovery.ts';
import { chainsOf } from '../../wallets/typed-wallet.ts';
import { readQuery } from '../../web/query.ts';
import { emptyState } from '../../web/table.ts';
import { dashboardEventsPath } from '../live.ts';
import { type MerchantPages, type MerchantVisit, signInPath } from '../route.ts';
import { recoveryLine } from '../settings/recovery-line.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { paymentTable } from './display-status.ts';
import { figures } from './figures.ts';
import { periodOf } from './period.ts';

const path = '/dashboard';
const shownRequests = 8;

/**
 * `GET /dashboard`: whether everything is fine, the figures of a period, and the latest requests. Also the sign-out.
 */
export function homePages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showHome(ctx, visit));
  pages.form({ url: '/dashboard/sign-out' }, async (visit) => {
    const { reply, session } = visit;
    await endMerchantSession(ctx, merchantActor(visit), session.scope, session.accountId, session.id);
    clearSessionCookie(reply, ctx.config, 'merchant');
    return reply.redirect(signInPath, 303);
  });
}

async function showHome(ctx: Context, visit: MerchantVisit) {
  const { session, merchant, words, request } = visit;
  const { scope, accountId } = session;
  const query = readQuery(request.query, ['days', 'month', 'currency']);
  const now = ctx.clock.now();
  const period = periodOf(query, now);
  const [recovery, sums, latest, open] = await Promise.all([
    readOpenRecovery(ctx, scope, accountId),
    sumByDay(ctx.db, scope, accountId, period.since, period.until),
    latestByMerchant(ctx.db, scope, accountId, shownRequests),
    countOpenPayments(ctx.db, scope, accountId),
  ]);
  const { home } = dashboardTexts(words);
  return sendDashboard(ctx, visit, {
    path,
    title: dashboardTexts(words).places.home,
    body: html`
      <div class="list" data-live="${dashboardEventsPath()}" data-region="home">
        ${card(
          recovery && recoveryLine(words, merchant, recovery),
          readinessLine(words, visit),
          open > 0 && openLine(words, open),
        )}
        <p class="row">
          <a class="button primary" href="/dashboard/ask">${home.newRequest}</a>
          ${' '}
          <a href="/dashboard/cashier">${home.cashier}</a>
        </p>
        ${latest.length > 0 && figures(words, { sums, path, query, period, since: merchant.created_at, now })}
        <section class="list">
          <h2>${home.latest}</h2>
          ${
            latest.length > 0
              ? html`${paymentTable(words, latest, now)}<p><a href="/dashboard/payments">${home.all}</a></p>`
              : noPayments(words, merchant.partner_name)
          }
        </section>
      </div>
      ${merchantFacts(ctx, words, visit)}
    `,
  });
}

/** Shown before the first request, below the button that makes one. */
function noPayments(words: Words, partner: string): Html {
  const dashboard = dashboardTexts(words);
  return emptyState(dashboard.noPayments, fill(dashboard.noPaymentsRest, { partner }));
}

/** Whether the merchant can request money. If not, who disabled the merchant, what to do, and what still works. */
function readinessLine(words: Words, { merchant }: MerchantVisit): Html {
  const dashboard = dashboardTexts(words);
  const partner = merchant.partner_name;
  const reasons = [
    merchant.disabled_by_partner && fill(dashboard.offByPartner, { partner }),
    merchant.disabled_by_operator && fill(dashboard.offByOperator, { partner }),
    merchant.partner_disabled && fill(dashboard.offWithPartner, { partner }),
  ].filter((reason) => reason !== false);
  if (reasons.length === 0) return stateLine('paid', dashboard.ready, fill(dashboard.readyRest, { partner }));
  return stateLine('attention', dashboard.off, [...reasons, dashboard.offRest].join(' '));
}

function openLine(words: Words, open: number): Html {
  const { home } = dashboardTexts(words);
  const title = fillCount(words, home.waiting, open, { count: countedUpTo(words, open, countedOpen) });
  return html`
    <div>
      ${stateLine('attention', title, home.waitingRest)}
      <p class="after-state">
        <a href="/dashboard/unmatched">${home.seeUnmatched}</a>
      </p>
    </div>
  `;
}

function merchantFacts(ctx: Context, words: Words, { merchant }: MerchantVisit): Html {
  const dashboard = dashboardTexts(words);
  const networks = offeredChains(chainsOf(ctx, merchant), merchant.wallet_chain_ids).map(({ name }) => name);
  const { terms_version: version, terms_accepted_at: at } = merchant;
  const accepted = version !== null && at !== null;
  return card(
    descriptionList([
      copyableFact(words, dashboard.wallet, checksummed(merchant.wallet_address ?? '')),
      [dashboard.networks, networks.join(', ')],
      [dashboard.currency, merchant.display_currency],
      [dashboard.through, merchant.partner_name],
      accepted ? [dashboard.terms, fillHtml(dashboard.termsVersion, { version, time: instant(words, at) })] : null,
      copyableFact(words, dashboard.number, merchant.id),
    ]),
    html`<p><a href="/dashboard/wallet">${dashboard.changeWallet}</a></p>`,
  );
}
