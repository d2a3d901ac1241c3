import type { Mode } from '../lib/mode.ts';

/**
 * The details that are stored with an alarm, by its kind. Metrics count alarms by kind, so a kind contains no
 * identifiers and never changes.
 */
export type AlarmDetails = {
  mail_transport: { waiting: number };
  mail_failing: { fault: string };
  /** A key of SECRET_KEYS that a node lacks, and how many webhook endpoints and mails wait for it. */
  secret_key_missing: { keyId: string; endpoints: number; mails: number };
  phone_gateway: { fault: string };
  receipts_missing: { fault: string };
  /** Some of the merchants, and how many there are. */
  recoveries_stuck: { accountIds: string[]; count: number };
  plans_failing: { count: number };
  /** The scopes that are furthest ahead, and whether there are more. */
  order_ahead: { scopes: { slug: string; mode: Mode; until: string }[]; more: boolean };
  webhook_disabled: { partnerId: string; mode: Mode; why: 'gone' | 'dead' };
  /** A chain of CHAINS_FILE, and when it was last read. */
  'chain-silent': { chainId: number; chain: string; since: string };
  /**
   * A chain that is not in CHAINS_FILE any more, when it was last read, and what waits for it. `mode`: it is in the
   * file, but not in this mode, and what waits is of this mode.
   */
  'chain-missing': { chainId: number; mode?: Mode; since: string; waiting: string[] };
  'chain-unconfirmed': { chainId: number; chain: string; since: string };
  /** Hashes of transactions, or `block <number>` if the hashes are not known. */
  'chain-unread': { chainId: number; chain: string; transactions: string[] };
  /** The host of the endpoint that does not report transfers of these transactions, and of the one that does. */
  'chain-left-out': { chainId: number; chain: string; host: string; other?: string; transactions: string[] };
  'chain-final-reorged': { chainId: number; transactions: string[] };
  'chain-replaced': { chainId: number; transactions: string[] };
  'chain-deep-reorg': { chainId: number; blocks: number };
  'verified-reorged': { requestId: string };
  'returned-bound': { requestId: string };
  'returned-twice': { payment: string };
  /** The balance of an address of the relayer minus its pending transactions' cost, in wei of the chain's coin. */
  'relay-low-coin': { chainId: number; chain: string; address: string; leftWei: string; leastWei: string };
  'relay-fees': { chainId: number; chain: string; address: string; baseFeeWei: string; limitWei: string };
  'relay-stuck': { chainId: number; chain: string; address: string; nonce: string };
  /** An alarm raised by another version of the service, as that version worded it. */
  other: { message: string };
};

export type AlarmKind = keyof AlarmDetails;

/** An alarm. There is one per kind and subject; the subject is empty for a kind that can only occur once. */
export type AlarmOf<K extends AlarmKind> = { kind: K; subject: string; details: AlarmDetails[K] };
export type Alarm = { [K in AlarmKind]: AlarmOf<K> }[AlarmKind];

/** A function for each kind of alarm, for example for its text. A kind without an entry is a type error. */
export type ByAlarmKind<T> = { [K in AlarmKind]: (details: AlarmDetails[K]) => T };

/** Calls the function for an alarm's kind with its details. */
export function applyByKind<T>(ways: ByAlarmKind<T>, { kind, details }: Alarm): T {
  return (ways[kind] as (details: AlarmDetails[AlarmKind]) => T)(details);
}

const sentences: ByAlarmKind<string> = {
  mail_transport: ({ waiting }) =>
    `${waiting === 1 ? '1 e-mail is waiting' : `${waiting} e-mails are waiting`}: no mail server is configured; set SMTP_URL and MAIL_FROM.`,
  mail_failing: ({ fault }) =>
    `An e-mail could not be sent: ${fault.trim()}. Check SMTP_URL (smtps:// for port 465, smtp:// for 587), its password and MAIL_FROM.`,
  secret_key_missing: ({ keyId, endpoints, mails }) =>
    `Something waits for the secret key ${keyId}, which a node lacks. Webhook endpoints: ${endpoints}, e-mails: ${mails}. Give every node the same SECRET_KEYS. If the key is lost, run secrets forget ${keyId} and rotate the webhook secrets that doctor then names.`,
  phone_gateway: ({ fault }) =>
    `The phone message gateway is not working: ${fault}. Check PHONE_GATEWAY_URL and PHONE_GATEWAY_TOKEN.`,
  receipts_missing: ({ fault }) => `Receipts for verified payments cannot be created: ${fault}`,
  recoveries_stuck: ({ accountIds, count }) =>
    `${count === 1 ? 'A wallet recovery' : `${count} wallet recoveries`} cannot be completed; see the log. Merchants: ${listed(accountIds, count > accountIds.length)}.`,
  plans_failing: ({ count }) => `Charges have failed for more than a day; see the log. Plans: ${count}`,
  order_ahead: (details) => `The order of requests is ahead of the actual time. Partners: ${scopesAhead(details)}`,
  webhook_disabled: ({ partnerId, mode, why }) =>
    `The ${mode} webhook endpoint of partner ${partnerId} was disabled: ${why === 'gone' ? 'it answered 410 Gone' : 'no delivery succeeded for 120 hours'}.`,
  'chain-silent': ({ chain, since }) =>
    `Nothing has been read from ${chain} since ${since}: no RPC endpoint answers as CHAINS_FILE describes it. Payments there are found once one does.`,
  'chain-missing': ({ chainId, mode, since, waiting }) =>
    mode
      ? `Chain ${chainId} is not among the ${mode} chains of CHAINS_FILE, but something in ${mode} mode waits for it: ${waiting.join(', ')}. Move it back there, with "offered": false for its tokens.`
      : `Chain ${chainId} is not in CHAINS_FILE and has not been read since ${since}, but something waits for it: ${waiting.join(', ')}. Put it back, with "offered": false for its tokens.`,
  'chain-unconfirmed': ({ chain, since }) =>
    `Payments on ${chain} cannot be verified: its RPC endpoints have not all responded and agreed since ${since}.`,
  'chain-unread': ({ chain, transactions }) =>
    `Some transactions on ${chain} cannot be read; payments in them may be missing: ${transactions.join(', ')}`,
  'chain-left-out': ({ chain, host, other = 'another one', transactions }) =>
    `The RPC endpoint ${host} does not report transfers on ${chain} that ${other} reports; one of the two is wrong: ${transactions.join(', ')}`,
  'chain-final-reorged': ({ chainId, transactions }) =>
    `Chain ${chainId} reversed final transfers: ${transactions.join(', ')}`,
  'chain-replaced': ({ chainId, transactions }) =>
    `Transactions on chain ${chainId} that had been final move other money to a wallet of a merchant since a reorganisation. It is not counted; tell the merchant: ${transactions.join(', ')}`,
  'chain-deep-reorg': ({ chainId, blocks }) =>
    `Chain ${chainId} was reorganised deeper than the blocks that are stored; its last ${blocks} blocks are being read again.`,
  'verified-reorged': ({ requestId }) =>
    `The verified request ${requestId} lost its payment in a reorganisation; check its payment manually.`,
  'returned-bound': ({ requestId }) =>
    `The payment for request ${requestId} counts and was also refunded; check it manually.`,
  'returned-twice': ({ payment }) => `The payment ${payment} was refunded twice, or also counts; check it manually.`,
  'relay-low-coin': ({ chain, address, leftWei, leastWei }) =>
    `The relayer has too little coin on ${chain}: ${leftWei} wei left, ${leastWei} needed. Fund ${address}.`,
  'relay-fees': ({ chain, baseFeeWei, limitWei }) =>
    `The relayer sends nothing on ${chain}: gas costs ${baseFeeWei} wei, and the limit is ${limitWei}.`,
  'relay-stuck': ({ chain, address, nonce }) =>
    `A relayer transaction on ${chain} has not been mined for ten minutes: nonce ${nonce} of ${address}.`,
  other: ({ message }) => message,
};

export const alarmKinds = Object.keys(sentences) as AlarmKind[];

/** An alarm as a sentence in English, for commands and exports. */
export const alarmSentence = (alarm: Alarm): string => applyByKind(sentences, alarm);

/** An alarm's name: its kind and its subject. */
export const alarmName = ({ kind, subject }: Alarm): string => (subject === '' ? kind : `${kind}:${subject}`);

/** The scopes of `order_ahead` in a row. */
export function scopesAhead({ scopes, more }: AlarmDetails['order_ahead']): string {
  return listed(
    scopes.map(({ slug, mode, until }) => `${slug} (${mode}) until ${until}`),
    more,
  );
}

/** Names in a row, and a mark if there are more. */
export const listed = (names: readonly string[], more: boolean): string => `${names.join(', ')}${more ? ' …' : ''}`;

/** A row may come from another version, whose kinds this one does not know. */
export function knownAlarm({ kind, subject, details }: { kind: string; subject: string; details: object }): Alarm {
  if ((alarmKinds as string[]).includes(kind)) return { kind, subject, details } as Alarm;
  return { kind: 'other', subject: `${kind}:${subject}`, details: { message: JSON.stringify(details) } };
}
