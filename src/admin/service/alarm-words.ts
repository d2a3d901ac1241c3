import { allChains, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import {
  type Alarm,
  type AlarmKind,
  applyByKind,
  type ByAlarmKind,
  listed,
  scopesAhead,
} from '../../db/alarm-kinds.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readBranding } from '../../partners/branding.ts';
import { adminTexts } from '../../texts/admin.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';

/**
 * The sentence of an alarm, in the reader's language. The original message of a server, a network or the database is
 * shown beside it.
 */
export async function alarmWords(ctx: Context, words: Words, alarm: Alarm): Promise<Html> {
  return applyByKind(sentences(ctx, words), alarm);
}

function sentences(ctx: Context, words: Words): ByAlarmKind<Html | Promise<Html>> {
  const admin = adminTexts(words);
  const { alarms: t } = admin;
  const onNetwork = (text: string, chainId: number) => fill(text, { network: networkName(ctx, chainId) });
  const ofRequest = (text: string, requestId: string) => fillHtml(text, { request: html`<code>${requestId}</code>` });
  return {
    mail_transport: () => html`${t.mail_transport}`,
    mail_failing: ({ fault }) => html`${t.mail_failing} ${verbatim(fault)}`,
    secret_key_missing: ({ keyId, endpoints, mails }) =>
      html`${fillHtml(t.secret_key_missing, {
        key: html`<code>${keyId}</code>`,
        endpoints: html`${endpoints}`,
        mails: html`${mails}`,
      })}`,
    phone_gateway: ({ fault }) => html`${t.phone_gateway} ${verbatim(fault)}`,
    receipts_missing: ({ fault }) => html`${t.receipts_missing} ${verbatim(fault)}`,
    recoveries_stuck: ({ accountIds, count }) =>
      html`${t.recoveries_stuck} ${verbatim(listed(accountIds, count > accountIds.length))}`,
    plans_failing: ({ count }) => html`${t.plans_failing} ${verbatim(String(count))}`,
    order_ahead: (details) => html`${t.order_ahead} ${verbatim(scopesAhead(details))}`,
    webhook_disabled: async ({ partnerId, mode, why }) => {
      const { name: partner } = await readBranding(ctx, partnerId);
      return html`${fill(why === 'gone' ? t.webhook_gone : t.webhook_dead, { partner, mode: admin[mode] })}`;
    },
    'chain-silent': ({ chainId }) => html`${onNetwork(t.silent, chainId)}`,
    'chain-missing': ({ chainId, mode, waiting }) => {
      const network = networkName(ctx, chainId) + (mode ? ` (${admin[mode]})` : '');
      return html`${fill(t.missing, { network })} ${verbatim(waiting.join(', '))}`;
    },
    'chain-unconfirmed': ({ chainId }) => html`${onNetwork(t.unconfirmed, chainId)}`,
    'chain-unread': ({ chainId, transactions }) =>
      html`${onNetwork(t.unread, chainId)} ${verbatim(transactions.join(', '))}`,
    'chain-left-out': ({ chainId, host, other = '?', transactions }) =>
      html`${fillHtml(t.left_out, {
        network: html`${networkName(ctx, chainId)}`,
        host: verbatim(host),
        other: verbatim(other),
      })} ${verbatim(transactions.join(', '))}`,
    'chain-final-reorged': ({ chainId, transactions }) =>
      html`${onNetwork(t.final_reorged, chainId)} ${verbatim(transactions.join(', '))}`,
    'chain-replaced': ({ chainId, transactions }) =>
      html`${onNetwork(t.replaced, chainId)} ${verbatim(transactions.join(', '))}`,
    'chain-deep-reorg': ({ chainId }) => html`${onNetwork(t.deep_reorg, chainId)}`,
    'verified-reorged': ({ requestId }) => ofRequest(t.verified_reorged, requestId),
    'returned-bound': ({ requestId }) => ofRequest(t.returned_bound, requestId),
    'returned-twice': ({ payment }) => fillHtml(t.returned_twice, { payment: html`<code>${payment}</code>` }),
    'relay-low-coin': ({ chainId, address }) => html`${onNetwork(t.relay_low_coin, chainId)} ${verbatim(address)}`,
    'relay-fees': ({ chainId }) => html`${onNetwork(t.relay_fees, chainId)}`,
    'relay-stuck': ({ chainId, address, nonce }) =>
      html`${onNetwork(t.relay_stuck, chainId)} ${verbatim(`${address} ${nonce}`)}`,
    other: ({ message }) => verbatim(message),
  };
}

const advices: Record<AlarmKind, keyof ReturnType<typeof adminTexts>['advices']> = {
  mail_transport: 'mail_transport',
  mail_failing: 'mail_failing',
  secret_key_missing: 'secret_key_missing',
  phone_gateway: 'phone_gateway',
  receipts_missing: 'other',
  recoveries_stuck: 'recoveries_stuck',
  plans_failing: 'plans_failing',
  order_ahead: 'order_ahead',
  webhook_disabled: 'webhook',
  'chain-silent': 'chain',
  'chain-missing': 'chain_missing',
  'chain-unconfirmed': 'chain',
  'chain-unread': 'chain',
  'chain-left-out': 'chain',
  'chain-final-reorged': 'chain',
  'chain-replaced': 'chain',
  'chain-deep-reorg': 'chain',
  'verified-reorged': 'chain',
  'returned-bound': 'other',
  'returned-twice': 'other',
  'relay-low-coin': 'relay_low_coin',
  'relay-fees': 'relay_fees',
  'relay-stuck': 'relay_stuck',
  other: 'other',
};

/** What helps against alarms of a kind. */
export const adviceOn = (words: Words, kind: AlarmKind): string => adminTexts(words).advices[advices[kind]];

const verbatim = (text: string): Html => html`<code lang="en" dir="ltr">${text}</code>`;

const networkName = ({ chains }: Context, chainId: number): string => nameOfChain(allChains(chains), chainId);
