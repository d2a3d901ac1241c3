import { formatEther } from 'viem';
import { type RelayerStatus, relayerStatus } from '../../chain/relay/status.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { adminTexts } from '../../texts/admin.ts';
import { badge, card, fullAddress, shortAddress, stateLine } from '../../ui/components.ts';
import { formatDecimal } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { csvOf, inOneBatch, sendCsv } from '../../web/download.ts';
import { csvLink, emptyState, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';

const path = '/admin/relayer';
const csvPath = `${path}.csv`;

/**
 * `GET /admin/relayer`: the wallets that pay fees, what is under way and what was spent; also as CSV. Queries no
 * provider.
 */
export function relayerPage(pages: AdminPages, ctx: Context): void {
  pages.page({ url: csvPath }, async ({ reply }) =>
    sendCsv(
      reply,
      'relayer',
      ['chain_id', 'mode', 'address', 'state', 'balance', 'pending', 'stuck', 'spent_today', 'coin'],
      csvOf(inOneBatch(await relayerStatus(ctx)), (row) => [
        ...[row.chain.chainId, row.mode, row.address, row.blocker ?? 'ready'],
        ...[row.balanceWei === null ? '' : formatEther(row.balanceWei), row.pending, row.stuck],
        ...[formatEther(row.spentTodayWei), coinOf(row)],
      ]),
    ),
  );
  pages.page({ url: path }, async ({ words, show }) => {
    const rows = await relayerStatus(ctx);
    const { relayer: t, places } = adminTexts(words);
    const troubles = rows.flatMap((row) => troublesOf(words, row));
    const summary = troubles.length > 0 ? troubles : [stateLine('paid', t.fine, t.fineRest)];
    return show({
      path,
      title: places.relayer,
      body:
        rows.length === 0
          ? emptyState(t.none, t.noneRest)
          : html`
              <div class="list" data-live="${adminEventsPath}" data-region="relayer">
                ${card(...summary)}
                ${relayerTable(words, rows)}
              </div>
              ${csvLink(words, csvPath)}
            `,
    });
  });
}

const coinOf = ({ chain }: RelayerStatus) => chain.coin ?? 'ETH';

/** Rounds down to six decimals, which suffice to see what is left. */
const coins = (words: Words, wei: bigint, row: RelayerStatus) =>
  `${formatDecimal(words, formatEther(wei - (wei % 10n ** 12n)))} ${coinOf(row)}`;

function troublesOf(words: Words, row: RelayerStatus): Html[] {
  const { relayer: t } = adminTexts(words);
  const { name } = row.chain;
  const say = (title: string, rest: Html | string) => stateLine('attention', fill(title, { name }), rest);
  const { blocker } = row;
  return [
    ...(blocker === 'no_key' ? [say(t.noKey, html`${t.noKeyRest} ${fullAddress(row.address)}`)] : []),
    ...(blocker === 'not_ready' ? [say(t.notReady, t.notReadyRest)] : []),
    ...(blocker === 'low_coin' ? [say(t.lowCoin, html`${t.lowCoinRest} ${fullAddress(row.address)}`)] : []),
    ...(blocker === 'fees' ? [say(t.fees, t.feesRest)] : []),
    ...(row.stuck > 0 ? [say(t.stuckTitle, t.stuckRest)] : []),
  ];
}

function relayerTable(words: Words, rows: RelayerStatus[]): Html {
  const admin = adminTexts(words);
  const { relayer: t } = admin;
  return table<RelayerStatus>(
    admin.places.relayer,
    [
      {
        name: admin.chains.name,
        cell: ({ chain }) => html`<span>${chain.name} <span class="quiet short">${chain.chainId}</span></span>`,
      },
      { name: admin.mode, cell: ({ mode }) => admin[mode] },
      { name: t.address, cell: ({ address }) => shortAddress(address) },
      {
        name: t.balance,
        figures: true,
        cell: (row) => (row.balanceWei === null ? '–' : coins(words, row.balanceWei, row)),
      },
      { name: t.pending, figures: true, cell: ({ pending }) => String(pending) },
      {
        name: t.stuck,
        figures: true,
        cell: ({ stuck, trouble }) =>
          html`
            ${stuck > 0 ? badge('attention', String(stuck)) : '0'}
            ${trouble && html`<code lang="en" dir="ltr">${trouble}</code>`}
          `,
      },
      { name: t.spent, figures: true, cell: (row) => coins(words, row.spentTodayWei, row) },
    ],
    rows,
  );
}
