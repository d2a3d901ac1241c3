import { type AmountFault, minorOf, readAmount } from '../lib/amount.ts';
import { isOneAddress } from '../lib/text/email.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { isStorable } from '../lib/text/storable.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { maxFiatInt, metadataLimits, textLimits } from '../requests/rules.ts';
import { type Collection, type CollectionFault, type CollectionField, readCollection } from './collection-form.ts';
import { chargesLimit, type Day, maxEvery, type Period, periods, startOf, yearAfter } from './rules.ts';

/** What was typed into the form of a new plan, by field. */
export type PlanFields = Partial<Record<PlanField, string | undefined>>;
export type PlanField =
  | 'name'
  | 'amount'
  | 'customer_name'
  | 'customer_email'
  | 'customer_phone'
  | 'every'
  | 'period'
  | 'first_on'
  | 'ends'
  | 'charges'
  | 'metadata'
  | CollectionField;

/** A plan whose fields are valid. */
export type NewPlan = Collection & {
  name: string;
  /** Minor units of the merchant's currency. */
  fiatInt: number;
  customerName: string;
  customerEmail: string | null;
  customerPhone: string | null;
  every: number;
  period: Period;
  firstOn: Day;
  /** Null: until somebody ends it. */
  maxCharges: number | null;
  /** JSON text, its keys in the order of their lines. */
  metadata: string;
};

/** What can be wrong with the amount. */
export type PlanAmountFault = AmountFault | 'tooMuch';
export type PlanFault =
  | 'name'
  | PlanAmountFault
  | 'customer'
  | 'email'
  | 'phone'
  | 'every'
  | 'firstOn'
  | 'charges'
  | 'metadata'
  | CollectionFault;
export type PlanFaults = Partial<Record<PlanField, PlanFault>>;

const amountFaults: readonly string[] = [
  'amount',
  'separators',
  'notOnlyNumber',
  'tooMuch',
] satisfies PlanAmountFault[];
/** Whether a fault is one of the amount, which a request's amount has as well. */
export const isAmountFault = (fault: PlanFault): fault is PlanAmountFault => amountFaults.includes(fault);

const { customer_name, customer_email, customer_phone } = textLimits;
/** The longest text that each field takes, in Unicode code points. The request of each charge has the customer's. */
export const longest = { name: 200, customer_name, customer_email, customer_phone } as const;

/**
 * Reads the form of a new plan; reports all faults at once.
 *
 * @param currency the merchant's, in whose units the amount is typed
 * @param today the earliest day of a first charge; the latest is a year later
 */
export function readPlanForm(
  typed: PlanFields,
  { currency, today }: { currency: string; today: Day },
): { plan: NewPlan } | { faults: PlanFaults } {
  const faults: PlanFaults = {};
  const line = (field: keyof typeof longest, fault: PlanFault, needed: boolean) => {
    const text = firstVisible(oneLine(typed[field] ?? '')) ?? '';
    if (text === '' ? needed : [...text].length > longest[field]) faults[field] = fault;
    return text || null;
  };
  const name = line('name', 'name', true);
  const customerName = line('customer_name', 'customer', true);
  const customerEmail = line('customer_email', 'email', false);
  if (customerEmail !== null && !isOneAddress(customerEmail)) faults.customer_email = 'email';
  const customerPhone = line('customer_phone', 'phone', false);

  const { amount, collection } = readMoney(typed, currency, faults);

  const period = periods.find((one) => one === typed.period) ?? 'month';
  const every = countIn(typed.every, maxEvery[period]);
  if (every === null) faults.every = 'every';
  const firstOn = readDay(typed.first_on ?? '');
  if (firstOn === null || firstOn < today || firstOn > yearAfter(today)) faults.first_on = 'firstOn';
  const maxCharges = typed.ends === 'after' ? countIn(typed.charges, chargesLimit) : null;
  if (typed.ends === 'after' && maxCharges === null) faults.charges = 'charges';
  const metadata = readMetadata(typed.metadata ?? '');
  if (metadata === null) faults.metadata = 'metadata';

  if (Object.keys(faults).length > 0 || !name || !customerName || !every || !firstOn || !metadata) return { faults };
  const fiatInt = Number(amount);
  return {
    plan: {
      name,
      fiatInt,
      customerName,
      customerEmail,
      customerPhone,
      every,
      period,
      firstOn,
      maxCharges,
      metadata,
      ...collection,
    },
  };
}

/** Reads the amount of each charge, and how it is paid. */
function readMoney(
  typed: PlanFields,
  currency: string,
  faults: PlanFaults,
): { amount: bigint | null; collection: Collection } {
  const read = readAmount(typed.amount ?? '', currency);
  const amount = minorOf(read);
  if ('fault' in read) faults.amount = read.fault;
  else if (read.minor > maxFiatInt) faults.amount = 'tooMuch';
  const collection = readCollection(typed, { currency, amount: faults.amount ? null : amount }, (field, fault) => {
    faults[field] = fault;
  });
  return { amount, collection };
}

/** The amount of a plan's charges from now on, and how they are paid. */
export type PlanChange = Collection & { fiatInt: number };

/** Reads the form that changes a plan; reports all faults at once. */
export function readPlanChange(typed: PlanFields, currency: string): { change: PlanChange } | { faults: PlanFaults } {
  const faults: PlanFaults = {};
  const { amount, collection } = readMoney(typed, currency, faults);
  if (Object.keys(faults).length > 0) return { faults };
  return { change: { fiatInt: Number(amount), ...collection } };
}

/** A whole number from 1 to the most; null for anything else. */
function countIn(text: string | undefined, max: number): number | null {
  const count = /^\d{1,4}$/.test(text?.trim() ?? '') ? Number(text) : 0;
  return count >= 1 && count <= max ? count : null;
}

function readDay(text: string): Day | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const at = startOf(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text) ? text : null;
}

/**
 * Converts lines of `key = value` to JSON text; null when one of them, or all together, break the rules of metadata.
 */
function readMetadata(text: string): string | null {
  if (!isStorable(text)) return null;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => {
    const at = line.indexOf('=');
    return at === -1 ? null : ([line.slice(0, at).trim(), line.slice(at + 1).trim()] as const);
  });
  const keys = new Set<string>();
  for (const pair of pairs) {
    if (pair === null) return null;
    const [key, value] = pair;
    const isGood =
      key !== '' &&
      key !== '__proto__' && // JSON parsers treat it specially
      !keys.has(key) &&
      [...key].length <= metadataLimits.key &&
      [...value].length <= metadataLimits.value;
    if (!isGood) return null;
    keys.add(key);
  }
  if (keys.size > metadataLimits.keys) return null;
  const members = pairs.map((pair) => pair?.map((part) => JSON.stringify(part)).join(':'));
  return `{${members.join(',')}}`;
}
