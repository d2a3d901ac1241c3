import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { storedContent } from './content.ts';
import { type CustomerMailSubject, insertMail, type MailCause, type MailPurpose } from './store.ts';

export {
  countPlanMails,
  deleteCustomerMails,
  deletePlanMails,
  deleteWaitingPlanMails,
  deleteWaitingRequestMails,
  latestMail,
  listMails,
  readMail,
} from './store.ts';

/**
 * `body` is plain text; `html` is the same for mail programs that show HTML. `urgent`: somebody is waiting for this
 * mail, so it goes first. `unsubscribeUrl`: a POST to it stops mails of this kind. `aboutPlanId`: the plan whose
 * customer a mail to somebody else names; it is deleted when that customer's data is erased.
 */
export type NewMail = {
  recipient: string;
  subject: string;
  body: string;
  html?: string | null;
  urgent?: boolean;
  unsubscribeUrl?: string | null;
  aboutPlanId?: string | null;
};

type MailContext = Pick<Context, 'config'>;

/**
 * Puts a mail into the outbox. It is sent once the transaction has committed, and never if it does not.
 *
 * @param partnerId whose users or merchants cause such mails: they take turns with that partner's other mails. Null for
 * mails of ours, such as those to operators
 */
export const queueMail = (ctx: MailContext, tx: Tx | Sql, partnerId: string | null, mail: NewMail): Promise<void> =>
  queue(ctx, tx, mail, { forPartnerId: partnerId });

/** Queues a mail to a request's customer. A second one for the same request and purpose changes nothing. */
export const queueCustomerMail = (
  ctx: MailContext,
  tx: Tx,
  scope: Scope,
  { requestId, purpose, ...mail }: NewMail & { requestId: string; purpose: MailPurpose },
): Promise<void> => queue(ctx, tx, mail, { scope, requestId, purpose });

/** Queues a mail to a plan's customer that is about no single request. */
export const queuePlanMail = (
  ctx: MailContext,
  tx: Tx | Sql,
  scope: Scope,
  planId: string,
  mail: NewMail,
): Promise<void> => queue(ctx, tx, mail, { scope, planId, purpose: 'plan' });

function queue(
  { config }: MailContext,
  tx: Tx | Sql,
  mail: NewMail,
  about: CustomerMailSubject | MailCause,
): Promise<void> {
  const { recipient, urgent = false, aboutPlanId = null } = mail;
  return insertMail(tx, { ...storedContent(config, mail), recipient, urgent, aboutPlanId }, about);
}
