import { type Html, html } from '../../lib/text/html.ts';
import type { MerchantView } from '../../merchants/read.ts';
import { walletTexts } from '../../texts/wallets.ts';
import { shortAddress, stateLine } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import type { WalletChange } from '../../wallets/recovery.ts';

/** Tells a signed-in merchant about a recovery in progress, with the button that stops it. */
export function recoveryLine(words: Words, merchant: MerchantView, { due_at, new_wallet }: WalletChange): Html {
  const { walletChange } = walletTexts(words);
  const line =
    due_at !== null && new_wallet !== null
      ? stateLine(
          'attention',
          walletChange.underWay,
          fillHtml(walletChange.underWayRest, { time: instant(words, due_at), wallet: shortAddress(new_wallet) }),
        )
      : stateLine(
          'attention',
          walletChange.started,
          fill(walletChange.startedRest, { partner: merchant.partner_name }),
        );
  return html`<div role="alert">${line}</div>${form({ action: '/dashboard/wallet/veto', submit: walletChange.stop })}`;
}
