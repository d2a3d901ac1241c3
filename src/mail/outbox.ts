import { randomUUID } from 'node:crypto';
import type { Sql, Tx } from '../db/connection.ts';

export type NewMail = { recipient: string; subject: string; body: string };

/** Puts a mail into the outbox: it goes out once the transaction has committed, and never without it. */
export async function queueMail(tx: Tx | Sql, mail: NewMail): Promise<void> {
  await tx`insert into mails (id, recipient, subject, body)
    values (${randomUUID()}, ${mail.recipient}, ${mail.subject}, ${mail.body})`;
}

export type Mail = NewMail & { id: string; created_at: Date; sent_at: Date | null };

/** The newest mails first: for the sandbox's page, and its command line. */
export async function listMails(sql: Sql, limit: number): Promise<Mail[]> {
  return sql<Mail[]>`
    select id, recipient, subject, body, created_at, sent_at from mails order by created_at desc, id limit ${limit}`;
}

/** The newest mail to one recipient; null when there is none. */
export async function latestMail(sql: Sql, recipient: string): Promise<Mail | null> {
  const [mail] = await sql<Mail[]>`
    select id, recipient, subject, body, created_at, sent_at from mails
    where recipient = ${recipient} order by created_at desc limit 1`;
  return mail ?? null;
}
