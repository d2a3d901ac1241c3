import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { cancelRequest } from '../../requests/cancel.ts';
import { readByMerchant } from '../../requests/lists/by-merchant.ts';
import type { RequestRow } from '../../requests/store.ts';
import { type DashboardTexts, dashboardTexts } from '../../texts/dashboard.ts';
import { card } from '../../ui/components.ts';
import { confirmButton } from '../../ui/form.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { notice } from '../../web/shell.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor } from '../shell.ts';
import type { Payment } from './payment.ts';

const path = '/dashboard/payments';

/** `POST /dashboard/payments/<id>/cancel`: cancels one of the merchant's requests, by the same rules as the API. */
export function cancelPages(pages: MerchantPages, ctx: Context): void {
  pages.form({ url: `${path}/:id/cancel` }, (visit) => cancel(ctx, visit));
}

async function cancel(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, request, reply } = visit;
  const { scope, accountId } = session;
  const { id } = await readByMerchant(ctx.db, scope, accountId, (request.params as { id: string }).id);
  try {
    await cancelRequest(ctx, merchantActor(visit), scope, id);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'cannot_cancel') throw error;
    return reply.redirect(`${path}/${id}?done=refused`, 303);
  }
  return reply.redirect(`${path}/${id}?done=cancelled`, 303);
}

/** Why a request cannot be cancelled; null if it can. */
function obstacle({ status, proof_status }: RequestRow): keyof DashboardTexts['cancel']['why'] | null {
  if (proof_status !== 'none') return proof_status;
  return status === 'requested' ? null : status;
}

/**
 * The notice after a refused cancellation: why the request, as it is now, cannot be cancelled. If its state does not
 * say why, an automatic charge is on its way.
 */
export function refusedNotice(words: Words, row: RequestRow, done: unknown): Html | null {
  const dashboard = dashboardTexts(words);
  const why = obstacle(row) ?? 'charged';
  if (done !== 'refused') return null;
  return notice('attention', fill(dashboard.cancel.refused, { why: dashboard.cancel.why[why] }));
}

/**
 * The button and question that cancel a request. While a request that cannot be cancelled is still open, says why
 * instead.
 */
export function cancelCard(words: Words, { row, progress }: Payment): Html | null {
  const { cancel: t } = dashboardTexts(words);
  const why = obstacle(row);
  if (why === 'opened' || why === 'attached') {
    return card(html`<h2>${t.act}</h2><p class="quiet">${fill(t.cannot, { why: t.why[why] })}</p>`);
  }
  if (why !== null) return null;
  const part = fill(t.partial, { amount: groupMicro(words, progress.receivedMicro) });
  return confirmButton(
    {
      label: t.act,
      title: fill(t.title, { amount: formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language) }),
      consequence: progress.receivedMicro > 0n ? `${t.rest} ${part}` : t.rest,
      action: `${path}/${row.id}/cancel`,
      danger: true,
    },
    null,
  );
}
