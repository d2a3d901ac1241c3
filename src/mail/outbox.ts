import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { storedContent } from './content.ts';

/**
 * `body` is plain text; `html` is the same for mail programs that show HTML. `urgent`: somebody is waiting for this
 * mail, so it goes first. `unsubscribeUrl`: a POST to it stops mails of this kind.
 */
export type NewMail = {
  recipient: string;
  subject: string;
  body: string;
  html?: string | null;
  urgent?: boolean;
  unsubscribeUrl?: string | null;
};

/** Puts a mail into the outbox. It is sent once the transaction has committed, and never if it does not. */
export async function queueMail({ config }: Pick<Context, 'config'>, tx: Tx | Sql, mail: NewMail): Promise<void> {
  const stored = storedContent(config, mail);
  await tx`insert into mails (id, recipient, subject, body, body_html, unsubscribe_url, sealed, urgent)
    values (${randomUUID()}, ${mail.recipient}, ${stored.subject}, ${stored.body}, ${stored.body_html},
      ${stored.unsubscribe_url}, ${stored.sealed}, ${mail.urgent ?? false})`;
}

/** What a mail to a request's customer is: a payment request, or a receipt. */
export type MailPurpose = 'ask' | 'receipt';

/** Queues a mail to a request's customer. A second one for the same request and purpose changes nothing. */
export async function queueCustomerMail(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  scope: Scope,
  { requestId, purpose, ...mail }: NewMail & { requestId: string; purpose: MailPurpose },
): Promise<void> {
  const stored = storedContent(config, mail);
  await tx`insert into mails (id, recipient, subject, body, body_html, unsubscribe_url, sealed, partner_id, test_mode,
      request_id, purpose)
    values (${randomUUID()}, ${mail.recipient}, ${stored.subject}, ${stored.body}, ${stored.body_html},
      ${stored.unsubscribe_url}, ${stored.sealed}, ${scope.partnerId}, ${scope.testMode}, ${requestId}, ${purpose})
    on conflict do nothing`;
}

/** Queues a mail to a plan's customer that is about no single request. */
export async function queuePlanMail(
  { config }: Pick<Context, 'config'>,
  tx: Tx | Sql,
  scope: Scope,
  planId: string,
  mail: NewMail,
): Promise<void> {
  const stored = storedContent(config, mail);
  await tx`insert into mails (id, recipient, subject, body, body_html, unsubscribe_url, sealed, partner_id, test_mode,
      plan_id, purpose)
    values (${randomUUID()}, ${mail.recipient}, ${stored.subject}, ${stored.body}, ${stored.body_html},
      ${stored.unsubscribe_url}, ${stored.sealed}, ${scope.partnerId}, ${scope.testMode}, ${planId}, 'plan')`;
}

/** Counts the mails to a plan's customer, about no single request, that were queued since a time. */
export async function countPlanMails(tx: Tx, scope: Scope, planId: string, since: Date): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from mails where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and plan_id = ${planId} and created_at > ${since}`;
  return row?.count ?? 0;
}

/** Deletes the mails to the customers of these plans that are about no single request; returns how many. */
export async function deletePlanMails(
  tx: Tx | Sql,
  scope: Scope,
  planIds: string[],
  { onlyWaiting }: { onlyWaiting: boolean },
): Promise<number> {
  const { count } = await tx`
    delete from mails where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and plan_id = any(${planIds}::uuid[]) ${onlyWaiting ? tx`and sent_at is null` : tx``}`;
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

export type Mail = NewMail & { id: string; created_at: Date; sent_at: Date | null };

/** Mails, newest first. For the sandbox, where they are readable. */
export async function listMails(sql: Sql, limit: number): Promise<Mail[]> {
  return sql<Mail[]>`
    select id, recipient, subject, coalesce(body, '') as body, body_html as html, created_at, sent_at
    from mails order by created_at desc, id limit ${limit}`;
}

/** One mail by its id; null if there is none. */
export async function readMail(sql: Sql, id: string): Promise<Mail | null> {
  const [mail] = await sql<Mail[]>`
    select id, recipient, subject, coalesce(body, '') as body, body_html as html, created_at, sent_at
    from mails where id = ${id}`;
  return mail ?? null;
}

/** The newest mail to one recipient; null if there is none. */
export async function latestMail(sql: Sql, recipient: string): Promise<Mail | null> {
  const [mail] = await sql<Mail[]>`
    select id, recipient, subject, coalesce(body, '') as body, body_html as html, created_at, sent_at from mails
    where recipient = ${recipient} order by created_at desc limit 1`;
  return mail ?? null;
}
