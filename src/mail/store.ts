import { randomUUID } from 'node:crypto';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import type { StoredContent } from './content.ts';

/** What a mail to a request's customer is: a payment request, or a receipt. */
export type MailPurpose = 'ask' | 'receipt';

/** What a customer's mail is about: one request, or a plan and no single request. */
export type CustomerMailSubject = { scope: Scope } & (
  | { requestId: string; purpose: MailPurpose }
  | { planId: string; purpose: 'plan' }
);

/** For whose sake a mail to anybody else is sent: a partner's, or ours (null). */
export type MailCause = { forPartnerId: string | null };

/** Stores a mail. A second one about the same request for the same purpose changes nothing. */
export async function insertMail(
  tx: Tx | Sql,
  mail: StoredContent & { recipient: string; urgent: boolean; aboutPlanId: string | null },
  about: CustomerMailSubject | MailCause,
): Promise<void> {
  const customer = 'scope' in about ? about : null;
  const forPartnerId = 'forPartnerId' in about ? about.forPartnerId : null;
  const requestId = customer && 'requestId' in customer ? customer.requestId : null;
  const planId = customer && 'planId' in customer ? customer.planId : null;
  await tx`
    insert into mails (id, recipient, subject, body, body_html, unsubscribe_url, sealed, urgent, for_partner_id,
      partner_id, test_mode, request_id, plan_id, purpose, about_plan_id)
    values (${randomUUID()}, ${mail.recipient}, ${mail.subject}, ${mail.body}, ${mail.body_html},
      ${mail.unsubscribe_url}, ${mail.sealed}, ${mail.urgent}, ${forPartnerId}, ${customer?.scope.partnerId ?? null},
      ${customer?.scope.testMode ?? null}, ${requestId}, ${planId}, ${customer ? tx`${customer.purpose}` : tx`default`},
      ${mail.aboutPlanId})
    ${requestId === null ? tx`` : tx`on conflict do nothing`}`;
}

/** Counts the mails to a plan's customer, about no single request, that were queued since a time. */
export async function countPlanMails(tx: Tx, scope: Scope, planId: string, since: Date): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from mails where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and plan_id = ${planId} and created_at > ${since}`;
  return row?.count ?? 0;
}

const toCustomersOf = (tx: Tx | Sql, scope: Scope, planIds: string[]) => tx`
  partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and plan_id = any(${planIds}::uuid[])`;

/** Deletes unsent mails to the customers of these plans that are about no single request. */
export async function deleteWaitingPlanMails(tx: Tx, scope: Scope, planIds: string[]): Promise<void> {
  await tx`delete from mails where ${toCustomersOf(tx, scope, planIds)} and sent_at is null`;
}

/**
 * Deletes the mails to the customers of these plans that are about no single request, and those that name these
 * customers to others, whether sent or not; returns how many. Only a transaction that sees all rows finds the latter.
 */
export async function deletePlanMails(tx: Tx | Sql, scope: Scope, planIds: string[]): Promise<number> {
  const { count } = await tx`
    delete from mails where (${toCustomersOf(tx, scope, planIds)}) or about_plan_id = any(${planIds}::uuid[])`;
  return count;
}

/** Deletes the mails to the customers of these requests, whether sent or not; returns how many. */
export async function deleteCustomerMails(tx: Tx | Sql, scope: Scope, requestIds: string[]): Promise<number> {
  const { count } = await tx`
    delete from mails where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and request_id = any(${requestIds}::uuid[])`;
  return count;
}

/** Deletes unsent payment request mails to the customers of these requests. */
export async function deleteWaitingRequestMails(tx: Tx, scope: Scope, requestIds: string[]): Promise<void> {
  await tx`
    delete from mails where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and request_id = any(${requestIds}::uuid[]) and purpose = 'ask' and sent_at is null`;
}

/** A mail as the sandbox shows it. `html` is null for one that is text only. */
export type Mail = {
  id: string;
  recipient: string;
  subject: string;
  body: string;
  html: string | null;
  created_at: Date;
  sent_at: Date | null;
};

const mailColumns = (sql: Sql) => sql`
  id, recipient, subject, coalesce(body, '') as body, body_html as html, created_at, sent_at`;

/** Mails, newest first. For the sandbox, where they are readable. */
export async function listMails(sql: Sql, limit: number): Promise<Mail[]> {
  return sql<Mail[]>`select ${mailColumns(sql)} from mails order by created_at desc, id limit ${limit}`;
}

/** One mail by its id; null if there is none. */
export async function readMail(sql: Sql, id: string): Promise<Mail | null> {
  const [mail] = await sql<Mail[]>`select ${mailColumns(sql)} from mails where id = ${id}`;
  return mail ?? null;
}

/** The newest mail to one recipient; null if there is none. */
export async function latestMail(sql: Sql, recipient: string): Promise<Mail | null> {
  const [mail] = await sql<Mail[]>`
    select ${mailColumns(sql)} from mails where recipient = ${recipient} order by created_at desc limit 1`;
  return mail ?? null;
}

export type GivenUpMail = { id: string; subject: string; recipient: string; created_at: Date; attempts: number };

/** Mails that were given up after their last attempt, newest first. */
export function selectGivenUp(sql: Sql, limit: number): Promise<GivenUpMail[]> {
  return sql<GivenUpMail[]>`
    select id, subject, recipient, created_at, attempts from mails
    where sent_at is null and next_attempt_at = 'infinity' order by created_at desc, id desc limit ${limit}`;
}

/** Makes a mail that was given up due again; false if there is no such mail. */
export async function updateRetried(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx`
    update mails set attempts = 0, next_attempt_at = now()
    where id = ${id} and sent_at is null and next_attempt_at = 'infinity'`;
  return count === 1;
}

/** Deletes mails that were sent, or were queued and given up, before a time; returns how many. */
export async function deleteOld(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from mails where id in (
      (select id from mails where sent_at < ${before} order by sent_at limit ${limit})
      union all
      (select id from mails where sent_at is null and next_attempt_at = 'infinity' and created_at < ${before}
        order by created_at limit ${limit}))
    -- Checked again for each row: an operator may have retried one meanwhile.
    and (sent_at < ${before} or (sent_at is null and next_attempt_at = 'infinity'))`;
  return count;
}

/** A mail that is stored readable. */
export type ReadableMail = StoredContent & { id: string; sent_at: Date | null; body: string };

/** Mails that are stored readable, the oldest first. */
export function selectReadable(sql: Sql, limit: number): Promise<ReadableMail[]> {
  return sql<ReadableMail[]>`
    select id, sent_at, subject, body, body_html, unsubscribe_url from mails where body is not null
    order by created_at limit ${limit}`;
}

/** Replaces a readable mail's content, unless it was sent since it was read. */
export async function updateEncrypted(
  sql: Sql,
  { id, sent_at }: Pick<ReadableMail, 'id' | 'sent_at'>,
  { subject, sealed }: { subject: string; sealed: Buffer | null },
): Promise<void> {
  await sql`
    update mails set subject = ${subject}, body = null, body_html = null, unsubscribe_url = null, sealed = ${sealed}
    where id = ${id} and body is not null and (sent_at is null) = ${sent_at === null}`;
}
