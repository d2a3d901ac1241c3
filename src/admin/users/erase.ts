import type { Context } from '../../context.ts';
import { customerKey, eraseForAWhile, findCustomer } from '../../customers/erase.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { adminTexts } from '../../texts/admin.ts';
import { card, field, hiddenField, optionList, selectField, stateLine } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { allOf, countedUpTo, instant } from '../../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../../ui/language.ts';
import { notice } from '../../web/shell.ts';
import type { AdminCall, AdminPages } from '../route.ts';

const path = '/admin/erase';
const kinds = ['email', 'phone', 'request'] as const;
type SearchForm = { by: (typeof kinds)[number]; value: string };

/**
 * `GET /admin/erase`: finds one customer, then erases them. The search term is sent as a form, so that it appears in no
 * URL and no log; for the same reason the response to a form is the page itself.
 */
export function erasePages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => show(ctx, call, 200, { by: 'email', value: '' }, null));
  pages.form({ url: `${path}/look`, fresh: 'never' }, async (call) => {
    const { typed, key } = asked(call);
    const { erase: t } = adminTexts(call.words);
    if (!key) return show(ctx, call, 400, typed, notice('attention', t.malformed));
    return show(ctx, call, 200, typed, foundCard(call.words, typed, await findCustomer(ctx, key)));
  });
  pages.form({ url: `${path}/do`, fresh: 'always' }, async (call) => {
    const { typed, key } = asked(call);
    const { erase: t } = adminTexts(call.words);
    if (!key) return show(ctx, call, 400, typed, notice('attention', t.malformed));
    const { more, ...erased } = await eraseForAWhile(ctx, call.actor, key);
    const message = notice(
      'paid',
      `${fill(t.done, { counts: countsOf(call.words, erased) })}${more ? ` ${t.more}` : ''}`,
    );
    return show(ctx, call, 200, more ? typed : { ...typed, value: '' }, message);
  });
}

function asked({ typed }: AdminCall) {
  const by = kinds.find((kind) => kind === typed('by')) ?? 'email';
  const value = typed('value').slice(0, 300);
  return { typed: { by, value }, key: customerKey(by, value) };
}

type Counted = 'requests' | 'plans' | 'partners' | 'mails' | 'messages';

/** `2 requests, 1 plan, and 1 partner`; with a plus sign if there are more requests than were counted. */
function countsOf(words: Words, counts: Partial<Record<Counted, number>>, more = false): string {
  const forms = adminTexts(words).erase.counts;
  const parts = (Object.entries(counts) as [Counted, number][]).map(([name, count]) =>
    fillCount(
      words,
      forms[name],
      count,
      more && name === 'requests' ? { count: countedUpTo(words, count, count) } : {},
    ),
  );
  return allOf(words, parts);
}

function foundCard(words: Words, typed: SearchForm, found: Awaited<ReturnType<typeof findCustomer>>): Html {
  const admin = adminTexts(words);
  const { erase: t } = admin;
  if (found.since === null) return card(stateLine('ended', t.none, t.noneRest));
  const { requests, plans, partners, more } = found;
  const counts = countsOf(words, { requests, plans, partners }, more);
  return card(
    stateLine('attention', t.found, fillHtml(t.foundRest, { counts, since: instant(words, found.since) })),
    confirmButton(
      { label: t.erase, title: t.eraseTitle, consequence: t.eraseRest, action: `${path}/do`, danger: true },
      html`${hiddenField('by', typed.by)}${hiddenField('value', typed.value)}`,
    ),
  );
}

function show(ctx: Context, call: AdminCall, status: number, typed: SearchForm, message: Html | null) {
  const { words } = call;
  const { erase: t, places } = adminTexts(words);
  const days = ctx.config.eraseCustomersAfterDays;
  const options = optionList(
    kinds.map((kind) => [kind, t.bys[kind]]),
    typed.by,
  );
  return call.show({
    path,
    status,
    title: places.erase,
    body: html`
      ${message}
      <div class="narrow list">
      ${card(html`
        <p>${t.rest}</p>
        ${form({
          action: `${path}/look`,
          inside: html`
            ${selectField({ name: 'by', label: t.by, options })}
            ${field({
              name: 'value',
              label: t.value,
              value: typed.value,
              attributes: 'required maxlength="300" autocomplete="off" spellcheck="false"',
            })}
          `,
          submit: t.look,
        })}
      `)}
      ${card(html`
        <p>${t.gone}</p>
        <p>${t.kept}</p>
        <p>${t.open}</p>
        <p class="quiet">${days === null ? t.noAge : fillCount(words, t.age, days)}</p>
      `)}
      </div>
    `,
  });
}
