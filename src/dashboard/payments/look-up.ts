import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { modeOf } from '../../lib/mode.ts';
import { html } from '../../lib/text/html.ts';
import { reportTransaction } from '../../payments/transaction-report.ts';
import { keyOf, type TransferRow, writeTransferKey } from '../../payments/transfers.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { joinWithOr } from '../../ui/formats.ts';
import { readQuery } from '../../web/query.ts';
import { lookUpForm, transactionReport } from '../../web/transaction-report.ts';
import type { MerchantPages } from '../route.ts';
import { sendDashboard } from '../shell.ts';
import { hashOf } from './timeline.ts';

export const lookUpPath = '/dashboard/transaction';

/**
 * `GET /dashboard/transaction?hash=`: what is known about a transaction, and which request of the merchant it concerns.
 */
export function lookUpPage(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: lookUpPath }, async (visit) => {
    const { session, words, request } = visit;
    const { scope, accountId } = session;
    const { hash } = readQuery(request.query, ['hash']);
    const report = hash === undefined ? null : await reportTransaction(ctx, scope, hash, accountId);
    const page = {
      path: lookUpPath,
      request: (id: string) => `/dashboard/payments/${id}`,
      unmatched: (row: TransferRow) => `/dashboard/unmatched/${writeTransferKey(keyOf(row))}`,
      reasons: dashboardTexts(words).reason,
      transaction: (chain: ChainConfig | undefined, hash: string) => hashOf(words, chain, hash),
      networks: joinWithOr(
        words,
        ctx.chains[modeOf(scope.testMode)].map(({ name }) => name),
      ),
    };
    return sendDashboard(ctx, visit, {
      path: lookUpPath,
      title: commonTexts(words).lookUp.title,
      body: html`
        ${lookUpForm(words, lookUpPath, hash)}
        ${report && transactionReport(words, report, (hash ?? '').trim(), page)}
      `,
    });
  });
}
