import type { Scope, Tx } from '../db/connection.ts';
import { queueMail } from '../mail/outbox.ts';
import { selectTold, type Told } from './wallet-store.ts';

/** What happened to a merchant's wallet. */
export type WalletNotice =
  | { kind: 'changed'; oldWallet: string; newWallet: string }
  | { kind: 'recovery_started'; oldWallet: string; vetoUrl: string }
  | { kind: 'recovery_signed'; oldWallet: string; newWallet: string; dueAt: Date; vetoUrl: string }
  | { kind: 'recovered'; oldWallet: string; newWallet: string }
  | { kind: 'recovery_stopped'; oldWallet: string; by: 'merchant' | 'partner' | 'time' };

const stoppedBy = {
  merchant: 'The merchant’s present wallet stopped it.',
  partner: 'It was taken back by who started it.',
  time: 'No new wallet signed while its link lived.',
};

function write(notice: WalletNotice, { merchant_name: name, partner_name: partner }: Told, accountId: string) {
  const merchant = name ?? 'The merchant';
  const about = `Merchant ${accountId}${name ? ` (${name})` : ''}, invited by ${partner}.`;
  const open = 'Requests that were made before are still paid to the earlier wallet.';
  switch (notice.kind) {
    case 'changed':
      return {
        subject: `${merchant}: the wallet was changed`,
        body: `New payment requests are paid to ${notice.newWallet} from now on, instead of ${notice.oldWallet}. Both wallets signed for it.\n${open}\n\n${about}\n`,
      };
    case 'recovery_started':
      return {
        subject: `${merchant}: a recovery of the wallet was started`,
        body: `A recovery was started for the wallet ${notice.oldWallet}, because it is said to be lost. Nothing has changed yet: a new wallet must sign first, and 48 hours must pass after that.\n\nIf the wallet is not lost, stop the recovery by signing with it:\n${notice.vetoUrl}\n\n${about}\n`,
      };
    case 'recovery_signed':
      return {
        subject: `${merchant}: payments move to another wallet in 48 hours`,
        body: `On ${notice.dueAt.toISOString()} new payment requests will go to ${notice.newWallet} instead of ${notice.oldWallet}.\n\nIf this is wrong, stop it before then by signing with the present wallet:\n${notice.vetoUrl}\n\n${about}\n`,
      };
    case 'recovered':
      return {
        subject: `${merchant}: the wallet was recovered`,
        body: `New payment requests are paid to ${notice.newWallet} from now on, instead of ${notice.oldWallet}, which did not object within 48 hours.\n${open}\n\n${about}\n`,
      };
    case 'recovery_stopped':
      return {
        subject: `${merchant}: the recovery of the wallet was stopped`,
        body: `Nothing changes: payments still go to ${notice.oldWallet}. ${stoppedBy[notice.by]}\n\n${about}\n`,
      };
  }
}

/** Mails what happened to the merchant and to its partner, with the transaction that makes it true. */
export async function tellOfWallet(tx: Tx, scope: Scope, accountId: string, notice: WalletNotice): Promise<void> {
  const told = await selectTold(tx, scope, accountId);
  if (!told) return;
  const mail = write(notice, told, accountId);
  for (const recipient of new Set([told.merchant_email, told.partner_email])) {
    if (recipient !== null) await queueMail(tx, { recipient, ...mail });
  }
}
