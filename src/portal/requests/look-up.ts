import { explorerLink } from '../../checkout/transactions.ts';
import type { Context } from '../../context.ts';
import { html } from '../../lib/text/html.ts';
import { reportTransaction } from '../../payments/transaction-report.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { joinWithOr } from '../../ui/formats.ts';
import { readQuery } from '../../web/query.ts';
import { lookUpForm, transactionReport } from '../../web/transaction-report.ts';
import type { PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

export const lookUpPath = '/portal/transaction';

/** `GET /portal/transaction?hash=`: what is known about a transaction, and which request of the partner it concerns. */
export function lookUpPage(pages: PortalPages, ctx: Context): void {
  pages.page({ url: lookUpPath, permission: 'read' }, async (call) => {
    const { words, scope, mode, request, reply } = call;
    const { hash } = readQuery(request.query, ['hash']);
    const report = hash === undefined ? null : await reportTransaction(ctx, scope, hash, null);
    const page = {
      path: lookUpPath,
      request: (id: string) => `/portal/requests/${id}`,
      unmatched: (row: { account_id: string }) => `/portal/unmatched?account_id=${row.account_id}`,
      reasons: portalTexts(words).reasons,
      transaction: explorerLink,
      networks: joinWithOr(
        words,
        ctx.chains[mode].map(({ name }) => name),
      ),
    };
    return sendPortal(ctx, reply, call, {
      path: lookUpPath,
      title: commonTexts(words).lookUp.title,
      body: html`
        ${lookUpForm(words, lookUpPath, hash)}
        ${report && transactionReport(words, report, (hash ?? '').trim(), page)}
      `,
    });
  });
}
