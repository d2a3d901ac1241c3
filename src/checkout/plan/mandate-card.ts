import { revokeCall } from '../../chain/recurring/calls.ts';
import { walletJson } from '../../chain/typed-data.ts';
import { type ChainConfig, nameOfChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { modeOf } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { chainOf } from '../../plans/mandates/chains.ts';
import { type MandateRow, toMandate } from '../../plans/mandates/read.ts';
import { revocationOf } from '../../plans/mandates/stop.ts';
import type { ChargeRow } from '../../plans/read.ts';
import { startOf } from '../../plans/rules.ts';
import { isWaiting } from '../../requests/rules.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { checksummed } from '../../ui/address.ts';
import { card, descriptionList, fullAddress, stateLine } from '../../ui/components.ts';
import { instant, utcDayText } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { walletElsewhere } from '../../web/phone-wallets.ts';
import { failedCard, newestFailed } from './failed-charge.ts';
import type { PlanView } from './read.ts';
import { agreeCard, allowanceChoice, limitFacts, placeOf } from './terms-card.ts';

/** The state of automatic charges, and how to stop them. */
export function mandateCard(ctx: Context, view: PlanView, mandate: MandateRow): Html {
  const { words, merchant, facts } = view;
  const { page: t } = mandateTexts(words);
  const next = facts.state === 'active' && facts.next_on !== null ? startOf(facts.next_on) : null;
  const failed = newestFailed(view);
  const isOpen = view.charges.some(isOpenByLink);
  const rest = facts.state === 'paused' ? t.paused : failed || isOpen ? null : t.activeRest;
  return html`
    ${failed && failedCard(view, failed)}
    ${isOpen && card(stateLine('attention', t.stillOpen, t.stillOpenRest))}
    ${card(
      stateLine('paid', t.active, rest && fill(rest, { merchant })),
      descriptionList([next && [t.next, utcDayText(words, next)]]),
      stopForm(view, mandate),
    )}
    ${card(
      html`<h2>${t.agreed}</h2>`,
      mandateFacts(ctx, words, mandate),
      raise(ctx, view, mandate),
      onChain(ctx, view, mandate),
    )}
    <details class="card another">
      <summary>${t.otherWallet}</summary>
      <p class="quiet">${t.otherWalletRest}</p>
      ${agreeCard(view, false)}
    </details>
  `;
}

/** Whether the customer must pay a charge, although there is an agreement: most often it was made before. */
const isOpenByLink = (row: ChargeRow): boolean => isWaiting(row) && row.collection === null;

/** What was agreed, as facts. */
export function mandateFacts(ctx: Context, words: Words, mandate: MandateRow): Html {
  const { page: t } = mandateTexts(words);
  const allowed = mandate.allowed_charges;
  return descriptionList([
    ...limitFacts(words, {
      capMicro: BigInt(mandate.cap_micro),
      capFiatInt: BigInt(mandate.cap_fiat_int),
      fiatCode: mandate.fiat_code,
      reservePercent: mandate.reserve_percent,
      minIntervalSeconds: mandate.min_interval_s,
      startsAt: mandate.starts_at,
      endsAt: mandate.ends_at,
    }),
    [t.payer, fullAddress(mandate.payer)],
    [t.payee, fullAddress(mandate.payee)],
    [t.network, nameOfChain(ctx.chains[modeOf(mandate.test_mode)], mandate.chain_id)],
    [t.allowed, allowed === null ? t.allowanceLimitless : fillCount(words, t.allowanceCount, allowed)],
    [t.agreedAt, instant(words, mandate.agreed_at)],
    [t.until, utcDayText(words, mandate.ends_at)],
  ]);
}

/**
 * One click stops automatic charges. If the wallet that agreed is available, browser code lets it sign the revocation
 * first.
 */
function stopForm({ words, path }: PlanView, mandate: MandateRow): Html {
  const { page: t } = mandateTexts(words);
  const order = JSON.stringify({
    payer: mandate.payer,
    chainId: Number(mandate.chain_id),
    typed: walletJson(revocationOf(mandate)),
  });
  return html`
    <form method="post" action="${path}/stop" data-stop="${order}">
      <input type="hidden" name="signature" value="">
      <p class="quiet" id="stop-rest">${t.stopRest}</p>
      <p class="told" role="status" hidden></p>
      <button class="second" aria-describedby="stop-rest">${t.stop}</button>
    </form>
  `;
}

/** The way that works without this service: the wallet itself revokes at the contract. */
function onChain(ctx: Context, view: PlanView, mandate: MandateRow): Html | null {
  const { words } = view;
  const { page: t } = mandateTexts(words);
  const chain = chainOf(ctx, mandate);
  if (!chain) return null;
  const call = revokeCall(toMandate(mandate));
  const order = JSON.stringify({
    options: [placeAgreed(chain, mandate)],
    payer: checksummed(mandate.payer),
    call,
  });
  return html`
    <details data-act="revoke" data-orders="${order}">
      <summary>${t.stopChain}</summary>
      <p class="quiet">${t.stopChainRest}</p>
      <div class="wallets" hidden></div>
      <p class="told" role="status" hidden></p>
      ${descriptionList([
        [t.contract, fullAddress(mandate.contract_address)],
        [t.callData, html`<span class="mono call">${call}</span>`],
      ])}
      <div class="row">
        <button type="button" class="second" data-copy="${call}" hidden>${t.copyCall}</button>
        ${
          chain.explorerUrl !== null &&
          html`
            <a href="${chain.explorerUrl}/address/${mandate.contract_address}" rel="noreferrer">${t.contractAt}</a>
          `
        }
      </div>
    </details>
  `;
}

/** The network and token of an agreement, for browser code. */
function placeAgreed(chain: ChainConfig, { token_address: address, contract_address: contract }: MandateRow): object {
  const symbol = chain.tokens.find((token) => token.address === address)?.symbol ?? 'USDC';
  return placeOf(chain, { address, symbol }, contract);
}

/** Sets the allowance again: the wallet signs this change and the allowance. The agreement stays. */
function raise(ctx: Context, view: PlanView, mandate: MandateRow): Html | null {
  const { words } = view;
  const { page: t, wallet } = mandateTexts(words);
  const chain = chainOf(ctx, mandate);
  if (!chain) return null;
  const order = JSON.stringify({
    options: [placeAgreed(chain, mandate)],
    payer: checksummed(mandate.payer),
  });
  return html`
    <details data-act="raise" data-orders="${order}">
      <summary>${t.raise}</summary>
      <p class="quiet">${t.raiseRest}</p>
      ${allowanceChoice(view, 'raise')}
      <div class="wallets" hidden></div>
      ${walletElsewhere(view, wallet.raiseWith)}
      <p class="told" role="status" hidden></p>
      <div class="next" hidden></div>
    </details>
  `;
}
