import type { ChainConfig } from '../../config/chains.ts';
import { dayMs } from '../../lib/durations.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { shownTerms } from '../../plans/mandates/shown-terms.ts';
import { chargesAllowed, chargesLeft, maxChargesInYear } from '../../plans/mandates/terms.ts';
import { startOf } from '../../plans/rules.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, fullAddress, optionList, selectField, stateLine } from '../../ui/components.ts';
import { amountEvery, groupMicro, utcDayText } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { phone, walletElsewhere } from '../../web/phone-wallets.ts';
import { networkChips } from '../network-chips.ts';
import { knownToWallets } from '../options.ts';
import type { PlanView } from './read.ts';

const offeredCounts = [1, 3, 6, 12, 24, 36];

const usdc = (words: Words, micro: bigint): Html => html`<bdi dir="ltr">${groupMicro(words, micro)} USDC</bdi>`;
/** A fact with an explanation below it. */
const explained = (value: Html, rest: string): Html => html`${value}<br><span class="quiet">${rest}</span>`;

/** What an agreement binds to. The page shows the same lines before and after it. */
export type Limits = {
  capMicro: bigint;
  capFiatInt: bigint;
  fiatCode: string;
  reservePercent: number;
  minIntervalSeconds: number;
  startsAt: Date;
  endsAt: Date;
};

/** The most that can ever be taken per charge and per year, as facts. */
export function limitFacts(words: Words, limits: Limits): [string, Html][] {
  const { page: t } = mandateTexts(words);
  const { capMicro, reservePercent, minIntervalSeconds, startsAt, endsAt } = limits;
  const cap = formatFiat(limits.capFiatInt, limits.fiatCode, words.language);
  const rest = fill(reservePercent === 0 ? t.maxRest : t.maxReserve, { cap, percent: reservePercent });
  const count = maxChargesInYear(minIntervalSeconds, startsAt, endsAt);
  const days = Math.round((minIntervalSeconds / (dayMs / 1000)) * 100) / 100;
  const number = new Intl.NumberFormat(`${words.language}-u-nu-latn`);
  return [
    [t.max, explained(html`<strong>${usdc(words, capMicro)}</strong>`, rest)],
    [
      t.year,
      explained(
        html`<strong>${usdc(words, capMicro * BigInt(count))}</strong>`,
        fill(t.yearRest, { count: number.format(count), days: number.format(days) }),
      ),
    ],
  ];
}

/** The terms of a plan, and the wallets that can agree to them. */
export function agreeCard(view: PlanView, isAgain: boolean): Html {
  const { words, merchant, facts, offered } = view;
  const { page: t } = mandateTexts(words);
  const [first] = offered;
  if (!first) return card(stateLine('attention', t.unavailable, t.unavailableRest));
  const amount = formatFiat(BigInt(facts.fiat_int), facts.fiat_code, words.language);
  const name = isAgain ? t.againTitle : t.agreeTitle;
  return html`
    <section class="card ways" data-act="agree" data-orders="${ordersOf(view)}" aria-label="${name}">
      <h2>${name}</h2>
      <p>${fill(t.agreeRest, { merchant })}</p>
      ${descriptionList([
        [t.who, html`<strong dir="auto">${merchant}</strong>`],
        facts.merchant_name === null ? null : [t.through, html`<span dir="auto">${facts.partner_name}</span>`],
        [t.what, html`<span dir="auto">${facts.name}</span>`],
        [t.each, amountEvery(words, amount, facts.every, facts.period)],
        [view.charges.length === 0 ? t.first : t.next, utcDayText(words, startOf(facts.next_on ?? facts.first_on))],
        [t.until, utcDayText(words, first.endsAt)],
        ...limitFacts(words, {
          ...first,
          capFiatInt: BigInt(facts.cap_fiat_int ?? 0),
          fiatCode: facts.fiat_code,
          reservePercent: facts.reserve_percent,
        }),
        [t.payee, fullAddress(first.payee)],
        offered.length === 1 ? [t.network, first.chain.name] : null,
      ])}
      ${offered.length > 1 && networkChips(words, offered, false)}
      ${allowanceChoice(view, 'agree')}
      <noscript><p class="warning">${t.noScript}</p></noscript>
      <div class="wallets" hidden></div>
      ${walletElsewhere(view, mandateTexts(words).wallet.agreeWith)}
      <p class="told" role="status" hidden></p>
      <div class="next" hidden></div>
      ${phone(view, t.phoneRest)}
      ${signedDetails(view)}
      <div>
        <h2>${t.how}</h2>
        <p class="quiet">${fill(t.howRest, { merchant })}</p>
      </div>
    </section>
  `;
}

/**
 * For how many charges the allowance is. Offers no more charges than are left, and never preselects "without limit".
 */
export function allowanceChoice({ words, facts, offered }: PlanView, act: string): Html {
  const { page: t } = mandateTexts(words);
  const usual = chargesAllowed(facts);
  const left = chargesLeft(facts) ?? Number.POSITIVE_INFINITY;
  const counts = [...new Set([...offeredCounts.filter((count) => count <= left), usual])].sort((a, b) => a - b);
  const token = offered[0]?.token.symbol ?? 'USDC';
  const options = [
    ...counts.map((count) => [String(count), fillCount(words, t.allowanceCount, count)] as const),
    ['limitless', t.allowanceLimitless] as const,
  ];
  return selectField({
    name: 'charges',
    id: `charges-${act}`,
    label: t.allowance,
    hint: fill(t.allowanceRest, { token }),
    options: optionList(options, String(usual)),
  });
}

/** A description of what the wallet will ask to sign. */
function signedDetails({ words, facts, offered: [first] }: PlanView): Html | null {
  if (!first) return null;
  const { page: t } = mandateTexts(words);
  const charges = BigInt(chargesAllowed(facts));
  const amount = groupMicro(words, first.capMicro * charges);
  const contract = checksummed(first.contract);
  return html`
    <details>
      <summary>${t.signs}</summary>
      <ol>
        <li>${t.signsMandate}</li>
        <li>${fill(t.signsPermit, { contract, amount, token: first.token.symbol })} ${t.signsSum}</li>
      </ol>
    </details>
  `;
}

/** The data that browser code needs to ask a wallet. */
function ordersOf({ facts, offered }: PlanView): string {
  return JSON.stringify({
    options: offered.map((terms) => ({
      ...placeOf(terms.chain, terms.token, terms.contract),
      shown: shownTerms(facts, terms),
    })),
  });
}

/** A network and token for browser code. */
export const placeOf = (chain: ChainConfig, token: { address: string; symbol: string }, contract: string): object => ({
  chain: knownToWallets(chain),
  token: token.address,
  symbol: token.symbol,
  contract: checksummed(contract),
});
