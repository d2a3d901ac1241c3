import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { writeNotice } from '../mail/notice.ts';
import { queueMail } from '../mail/outbox.ts';
import { mailBrandingOf } from '../partners/branding.ts';
import { mailTexts } from '../texts/mails.ts';
import { checksummed } from '../ui/address.ts';
import { instantText } from '../ui/formats.ts';
import { type Words, wordsKept } from '../ui/language.ts';
import { type NoticeRecipients, selectNoticeRecipients } from './store.ts';

/** An event about a merchant's wallet. */
export type WalletNotice =
  | { kind: 'changed'; oldWallet: string; newWallet: string }
  /** The wallet was claimed but never signed for, and somebody else has signed. Goes to the partner who claimed it. */
  | { kind: 'displaced'; oldWallet: string }
  | { kind: 'recovery_started'; oldWallet: string; vetoUrl: string }
  | { kind: 'recovery_signed'; oldWallet: string; newWallet: string; dueAt: Date; vetoUrl: string }
  | { kind: 'recovered'; oldWallet: string; newWallet: string }
  | { kind: 'recovery_stopped'; oldWallet: string; by: 'merchant' | 'partner' | 'time' };

function write(ctx: Context, words: Words, notice: WalletNotice, recipients: NoticeRecipients, accountId: string) {
  const { wallet: t } = mailTexts(words);
  const { subject, body } = t[notice.kind];
  return writeNotice({
    words,
    branding: mailBrandingOf(ctx, { ...recipients, name: recipients.partner_name }),
    subject,
    body: `${body}\n\n${t.about}`,
    values: {
      merchant: recipients.merchant_name ?? t.unnamed,
      account: accountId,
      partner: recipients.partner_name,
      ...('dueAt' in notice && { time: instantText(words, notice.dueAt) }),
      ...('by' in notice && { reason: t.stoppedBy[notice.by] }),
    },
    figures: {
      oldWallet: checksummed(notice.oldWallet),
      ...('newWallet' in notice && { newWallet: checksummed(notice.newWallet) }),
    },
    ...('vetoUrl' in notice && { links: { link: notice.vetoUrl }, button: t.stop }),
  });
}

/**
 * Mails the merchant and its partner about an event, each in their own language, in the transaction of that event. If
 * the wallet was only claimed, the merchant may know nothing about it, so only its partner is mailed.
 */
export async function queueWalletNotice(
  ctx: Context,
  tx: Tx,
  scope: Scope,
  accountId: string,
  notice: WalletNotice,
): Promise<void> {
  const recipients = await selectNoticeRecipients(tx, scope, accountId);
  if (!recipients) return;
  // If both have the same address, it gets one mail, in the merchant's language.
  const languages = new Map([
    [recipients.partner_email, recipients.partner_language],
    ...(notice.kind === 'displaced' ? [] : [[recipients.merchant_email, recipients.merchant_language] as const]),
  ]);
  // From now on 48 hours are left to object. Many waiting receipts must not use them up.
  const urgent = notice.kind === 'recovery_signed';
  for (const [recipient, language] of languages) {
    if (recipient === null) continue;
    const mail = write(ctx, wordsKept(language), notice, recipients, accountId);
    await queueMail(ctx, tx, scope.partnerId, { recipient, urgent, ...mail });
  }
}
