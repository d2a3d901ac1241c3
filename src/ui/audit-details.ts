import type { ObjectNames } from '../audit/names.ts';
import { isAddress, isHash32, isUuid } from '../lib/ids.ts';
import { currencyExponent, formatFiat } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { adminTexts } from '../texts/admin.ts';
import { auditTexts } from '../texts/audit.ts';
import { type DashboardTexts, dashboardTexts } from '../texts/dashboard.ts';
import { mandateTexts } from '../texts/mandates.ts';
import { portalTexts } from '../texts/portal.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { objectName, whoName } from './audit-words.ts';
import { breakable, shortAddress } from './components.ts';
import { everyText, formatDuration, groupMicro, instant, isPeriod } from './formats.ts';
import type { Words } from './language.ts';

type Value = string | number | boolean | null;
type Details = Record<string, Value | Value[]>;
/** Texts for words; a word without one is shown unchanged. */
type Naming = Readonly<Record<string, string>>;

/** The id of a transfer: its chain, its transaction, and its ordinal in it. */
const transfer = /^\d+_0x[0-9a-f]{64}_\d+$/;
/** The id of a webhook endpoint: its partner and its mode. */
const endpoint = /^[0-9a-f-]{36}\/(?:test|live)$/;
const timestamp = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Details for which null means that something was removed or has no end. For others, null means "not given". */
const meaningfulNulls = ['email', 'accent', 'host', 'until', 'charges'];

/**
 * The details of an action, each with its name in the reader's language and its value formatted; null if there are
 * none. A name or value without a text is shown unchanged.
 *
 * @param names the names of the merchants and partners in them
 * @param json the details as the log stores them: an object of strings, numbers, booleans, nulls and lists of strings
 */
export function auditDetails(words: Words, json: string, names: ObjectNames): Html | null {
  const { detailNames } = auditTexts(words);
  const rows = detailRows(words, JSON.parse(json) as Details, names);
  if (rows.length === 0) return null;
  return html`
    <span dir="auto">
      ${rows.map(
        ([name, value], i) => html`${i > 0 && ' · '}<span class="quiet">${named(detailNames, name)}</span> ${value}`,
      )}
    </span>
  `;
}

/** The actor: users by their e-mail address, merchants by their wallet, shortened. */
export function auditActor(words: Words, row: { actor_kind: string; actor_name: string }): Html {
  const name = whoName(words, row);
  return isAddress(name) ? shortAddress(name) : html`<span dir="auto">${breakable(name)}</span>`;
}

/**
 * The target of an action: its kind and its name, or its id or address, shortened. The full value is in the title.
 *
 * @param to the path of its page; null if it has none
 */
export function auditObject(
  words: Words,
  { object_kind: kind, object_id: id }: { object_kind: string; object_id: string },
  names: ObjectNames,
  to: string | null,
): Html {
  if (kind === 'rate' && id === 'all') return html`<span>${adminTexts(words).places.rates}</span>`;
  const shown = nameOf(names, kind, id) ?? shortened(id);
  return html`<span>${objectName(words, kind)} ${to === null ? shown : html`<a href="${to}">${shown}</a>`}</span>`;
}

/** The name of a target, with its id on hover; null if it has none. */
function nameOf(names: ObjectNames, kind: string, id: string): Html | null {
  const found = names.get(`${kind} ${id}`);
  return found ? html`<bdi title="${id}">${breakable(found.name)}</bdi>` : null;
}

function detailRows(words: Words, details: Details, names: ObjectNames): [name: string, value: Html | string][] {
  const { amount, currency, every, period } = details;
  const rest = new Map(Object.entries(details));
  const first: [string, Html | string][] = [];
  if (typeof amount === 'number' && typeof currency === 'string' && currencyExponent(currency) !== null) {
    first.push(['amount', formatFiat(BigInt(amount), currency, words.language)]);
    for (const name of ['amount', 'currency']) rest.delete(name);
  }
  if (typeof every === 'number' && isPeriod(period)) {
    first.push(['every', everyText(words, every, period)]);
    for (const name of ['every', 'period']) rest.delete(name);
  }
  const others = [...rest]
    .filter(([name, value]) => value !== null || meaningfulNulls.includes(name))
    .map(([name, value]): [string, Html] => [
      name,
      listed([value].flat().map((one) => nameOf(names, name, String(one)) ?? shownValue(words, name, one))),
    ]);
  return [...first, ...others];
}

const listed = (values: (Html | string)[]) => html`${values.map((value, i) => html`${i > 0 && ', '}${value}`)}`;

function shownValue(words: Words, name: string, value: Value): Html | string {
  const portal = portalTexts(words);
  const admin = adminTexts(words);
  const { account } = signInTexts(words);
  const dashboard = dashboardTexts(words);
  const { detailValues } = auditTexts(words);
  if (value === null) return name === 'charges' ? detailValues.unlimited : detailValues.none;
  if (typeof value === 'boolean') return value ? detailValues.yes : detailValues.no;
  const text = String(value);
  switch (name) {
    case 'usdc_micro':
      return html`<bdi dir="ltr">${groupMicro(words, BigInt(text))} USDC</bdi>`;
    case 'expiry_minutes':
    case 'default_expiry_minutes':
      return formatDuration(words, Number(text));
    case 'scopes':
      return named(portal.keys.scopes, text);
    case 'payment_mode':
      return named(portal.request.modes, text);
    case 'channel':
      return named(admin.stuck.channels, text);
    case 'fields':
      return named(profileNames(dashboard.profile), text);
    case 'why':
      return named({ ...detailValues, ...mandateTexts(words).ended }, text);
    case 'by':
    case 'recovery':
      return named(detailValues, text);
    case 'role':
    case 'from':
    case 'to':
      return text in account.roles ? named(account.roles, text) : plain(words, text);
    default:
      return plain(words, text);
  }
}

const named = (words: Naming, name: string) => (Object.hasOwn(words, name) ? (words[name] ?? name) : name);

const profileNames = (profile: DashboardTexts['profile']): Naming => ({
  ...profile,
  display_name: profile.name,
  business_name: profile.businessName,
  display_currency: profile.currency,
});

function plain(words: Words, text: string): Html | string {
  return timestamp.test(text) ? instant(words, new Date(text)) : shortened(text);
}

/**
 * Ids, addresses and hashes are too long for a row. The full value is shown on hover and found by searching the page.
 */
function shortened(text: string): Html | string {
  if (isAddress(text) || isHash32(text)) return shortAddress(text);
  const shown = isUuid(text) || endpoint.test(text) ? 8 : transfer.test(text) ? 16 : null;
  return shown === null
    ? html`<bdi>${breakable(text)}</bdi>`
    : html`<span class="mono" dir="ltr" title="${text}">${`${(text as string).slice(0, shown)}…`}</span>`;
}
