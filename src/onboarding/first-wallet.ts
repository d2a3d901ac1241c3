import { type Html, html } from '../lib/text/html.ts';
import { onboardingTexts } from '../texts/onboarding.ts';
import { joinWithOr } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';
import { walletNames } from '../web/phone-wallets.ts';

/** For a merchant without a wallet: what a wallet is, how to get one, and what does not serve as one. */
export function firstWallet(words: Words): Html {
  const { onboard } = onboardingTexts(words);
  const apps = joinWithOr(words, walletNames);
  return html`
    <details>
      <summary>${onboard.noWallet}</summary>
      <div class="stack">
        <p>${onboard.noWalletRest}</p>
        <ol>
          <li>${fill(onboard.installWallet, { apps })}</li>
          <li>${onboard.createWallet}</li>
          <li>${onboard.returnWithWallet}</li>
        </ol>
        <p class="quiet">${onboard.noExchange}</p>
      </div>
    </details>
  `;
}
