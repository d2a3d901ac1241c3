import type { Context } from '../../context.ts';
import { html } from '../../lib/text/html.ts';
import { listTermsVersions } from '../../merchants/all-partners.ts';
import { terms } from '../../onboarding/terms.ts';
import { adminTexts } from '../../texts/admin.ts';
import { badge, card, stateLine } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import { fill } from '../../ui/language.ts';
import { csvOf, inOneBatch, sendCsv } from '../../web/download.ts';
import { linkWith } from '../../web/query.ts';
import { csvLink, emptyState, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';

const path = '/admin/terms';
const csvPath = `${path}.csv`;

/** `GET /admin/terms`: accepted versions of the terms, with the number of merchants and a link to each; also as CSV. */
export function termsPage(pages: AdminPages, ctx: Context): void {
  pages.page({ url: csvPath }, async ({ reply }) => {
    const versions = inOneBatch(await listTermsVersions(ctx));
    return sendCsv(
      reply,
      'terms',
      ['version', 'merchants', 'last_accepted_at', 'in_force'],
      csvOf(versions, ({ version, merchants, last_at }) => [
        ...[version, merchants, last_at],
        version === terms.version ? 'yes' : 'no',
      ]),
    );
  });
  pages.page({ url: path }, async ({ words, show }) => {
    const { merchants, terms: t, places } = adminTexts(words);
    const versions = await listTermsVersions(ctx);
    const now = ctx.clock.now();
    const list = table(
      places.terms,
      [
        { name: t.version, cell: ({ version }) => fill(merchants.version, { version }) },
        {
          name: t.merchants,
          figures: true,
          cell: ({ version, merchants }) =>
            html`<a href="${linkWith('/admin/merchants', {}, { terms: version })}">${merchants}</a>`,
        },
        { name: t.last, cell: ({ last_at }) => ago(words, last_at, now) },
        {
          name: adminTexts(words).state,
          cell: ({ version }) => (version === terms.version ? badge('paid', t.current) : badge('ended', t.earlier)),
        },
      ],
      versions,
    );
    return show({
      path,
      title: places.terms,
      body: html`
        <div class="list" data-live="${adminEventsPath}" data-region="terms">
          ${card(stateLine('paid', fill(t.now, { version: terms.version }), t.nowRest))}
          ${versions.length > 0 ? list : emptyState(t.empty, t.emptyRest)}
        </div>
        ${csvLink(words, csvPath)}
      `,
    });
  });
}
