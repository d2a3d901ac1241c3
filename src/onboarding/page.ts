import type { WalletConnectConfig } from '../config.ts';
import { type Html, html } from '../lib/text/html.ts';
import { type DetailName, detailLimits } from '../merchants/details.ts';
import type { MerchantRefusal, RefusalReason } from '../merchants/refusal.ts';
import { commonTexts } from '../texts/common.ts';
import { dashboardTexts } from '../texts/dashboard.ts';
import { onboardingTexts } from '../texts/onboarding.ts';
import { walletTexts } from '../texts/wallets.ts';
import { checksummed } from '../ui/address.ts';
import { type Branding, logoOf } from '../ui/branding.ts';
import { card, descriptionList, field, isWrong, shortAddress, stateLine } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { fill, fillHtml, type Words } from '../ui/language.ts';
import { connectForm, type OfferedChain, signForm } from '../ui/wallet-forms.ts';
import { signingElsewhere } from '../web/phone-wallets.ts';
import { type CurrencyChoice, countryField, currencyField } from './detail-fields.ts';
import { firstWallet } from './first-wallet.ts';
import type { OnboardingRow } from './store.ts';
import { bindingTerms, terms, termsIn } from './terms.ts';

/** The fields of a form as they were sent. */
export type TypedFields = Record<string, string | undefined>;

/** Everything from which a step's page is made. */
export type StepPage = {
  words: Words;
  branding: Branding;
  row: OnboardingRow;
  /** Address of the onboarding link, without a host. */
  path: string;
  refusal: MerchantRefusal | null;
  typed: TypedFields;
  walletConnect: WalletConnectConfig | null;
  /** The onboarding link with its host, to continue on a phone. */
  url: string;
};

const elsewhereOf = (page: StepPage, step: 'connect' | 'sign') =>
  signingElsewhere({ ...page, name: page.row.partner_name, isSecret: true }, step);

const steps = ['stepEmail', 'stepDetails', 'stepWallet', 'stepSign'] as const;
type Step = (typeof steps)[number];

function head({ words, branding, row }: StepPage, current: Step): Html {
  const { onboard } = onboardingTexts(words);
  const shown = row.email === null ? steps.slice(1) : steps;
  const at = steps.indexOf(current);
  return html`
    ${logoOf(branding)}
    <ol class="steps" aria-label="${onboard.steps}">
      ${shown.map((step) => {
        if (step === current) return html`<li aria-current="step">${onboard[step]}</li>`;
        return html`<li${steps.indexOf(step) < at && html` class="done"`}>${onboard[step]}</li>`;
      })}
    </ol>
  `;
}

/** A refusal above the form, unless it is shown beside its field. */
export function refusalLine(words: Words, refusal: MerchantRefusal | null, inPlace: RefusalReason[] = []): Html | null {
  if (!refusal || inPlace.includes(refusal.reason)) return null;
  const { title, rest } = walletTexts(words).refusals[refusal.reason];
  return html`<div role="alert">${stateLine('attention', title, rest)}</div>`;
}

/** A refusal as a sentence, to show beside its field. */
export function refusalSentence(
  words: Words,
  refusal: MerchantRefusal | null,
  reason: RefusalReason,
): string | undefined {
  if (refusal?.reason !== reason) return undefined;
  const { title, rest } = walletTexts(words).refusals[reason];
  return fill(commonTexts(words).common.titleAndRest, { title, rest });
}

/** `a••••@example.com`: enough to recognise the mailbox, but not enough to learn it. */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}••••${email.slice(at)}`;
}

/** What onboarding is and who invites, on the first page of a link. */
function introduction({ words, row }: StepPage): Html {
  const { onboard } = onboardingTexts(words);
  const partner = row.partner_name;
  return html`
    <h1>${fill(onboard.invites, { partner })}</h1>
    <p>${fill(onboard.what, { partner })}</p>
    <p class="quiet">${onboard.coin}</p>
    <p class="quiet">${onboard.needs}</p>
  `;
}

/** What to do when the partner gave another address: nobody can go on without its code. */
const notYours = ({ words, row }: StepPage): Html =>
  html`<p class="quiet">${fill(onboardingTexts(words).onboard.notYours, { partner: row.partner_name })}</p>`;

/** The step that sends an e-mail code, if the partner gave an address. */
export function sendCodePage(page: StepPage): Html {
  const { words, row, path } = page;
  const { onboard } = onboardingTexts(words);
  const email = html`<strong>${maskEmail(row.email ?? '')}</strong>`;
  return card(
    head(page, 'stepEmail'),
    introduction(page),
    refusalLine(words, page.refusal),
    html`
      <p>${fillHtml(onboard.makeSure, { email, partner: row.partner_name })}</p>
      ${form({ action: `${path}/code`, submit: onboard.sendCode })}
      ${notYours(page)}
    `,
  );
}

/** The step that asks for the code that was sent. */
export function enterCodePage(page: StepPage): Html {
  const { words, row, path, refusal } = page;
  const { onboard } = onboardingTexts(words);
  const fault = refusalSentence(words, refusal, 'email_code_wrong');
  const focus = fault ? '' : ' autofocus'; // a wrong code has it by its fault
  return card(
    head(page, 'stepEmail'),
    html`<h1>${onboard.enterCode}</h1>`,
    refusalLine(words, refusal, ['email_code_wrong']),
    html`
      ${form({
        action: `${path}/email`,
        inside: field({
          name: 'code',
          label: onboard.code,
          hint: fill(onboard.codeHint, { email: maskEmail(row.email ?? '') }),
          fault,
          attributes: `required inputmode="numeric" autocomplete="one-time-code" maxlength="12"${focus}`,
        }),
        submit: onboard.goOn,
      })}
      ${form({ action: `${path}/code`, submit: onboard.sendAnother, second: true })}
      ${notYours(page)}
    `,
  );
}

/** The step for the merchant's details: first what customers see, then the optional rest. */
export function detailsPage(page: StepPage, choice: CurrencyChoice): Html {
  const { words, row, path, refusal, typed } = page;
  const { onboard } = onboardingTexts(words);
  const value = (name: DetailName) => typed[name] ?? row[name] ?? '';
  const fault = (name: DetailName | 'email' | 'display_currency') => {
    const kind = refusal?.faults[name];
    if (kind === 'notACurrency') return dashboardTexts(words).faults.notACurrency;
    return kind && fill(onboard[kind], { limit: name in detailLimits ? detailLimits[name as DetailName] : 254 });
  };
  const text = (name: DetailName, label: string, autocomplete: string, hint?: string) =>
    field({
      name,
      label,
      value: value(name),
      fault: fault(name),
      attributes: `autocomplete="${autocomplete}" maxlength="${detailLimits[name]}"`,
      ...(hint && { hint }),
    });
  const laterFaults = Object.keys(refusal?.faults ?? {}).some(
    (name) => !['business_name', 'display_currency'].includes(name),
  );
  return card(
    head(page, 'stepDetails'),
    row.email === null && row.details_at === null ? introduction(page) : null,
    row.email === null && row.details_at === null ? html`<h2>${onboard.who}</h2>` : html`<h1>${onboard.who}</h1>`,
    html`<p class="quiet">${fill(onboard.whoRest, { partner: row.partner_name })}</p>`,
    refusalLine(words, refusal),
    form({
      action: `${path}/details`,
      inside: html`
        ${text('business_name', onboard.businessName, 'organization', onboard.businessHint)}
        ${currencyField(page, choice, fault('display_currency'))}
        <details${laterFaults && html` open`}>
          <summary>${onboard.later}</summary>
          <div class="stack">
          <p class="quiet">${onboard.laterRest}</p>
        ${text('display_name', onboard.name, 'name')}
        ${countryField(words, value('country'), fault('country'))}
        ${text('phone', onboard.phone, 'tel')}
        ${text('website', onboard.website, 'url')}
        ${
          row.email === null &&
          field({
            name: 'email',
            label: onboard.email,
            hint: onboard.emailHint,
            value: typed.email ?? row.given_email ?? '',
            fault: fault('email'),
            attributes: 'type="email" autocomplete="email" maxlength="254"',
          })
        }
          </div>
        </details>
      `,
      submit: onboard.goToWallet,
    }),
  );
}

/** The step in which the merchant chooses the wallet to be paid at. */
export function walletPage(page: StepPage, chains: OfferedChain[]): Html {
  const { words, row, path, refusal, typed } = page;
  const { onboard } = onboardingTexts(words);
  const announced = row.wallet_address;
  const partner = row.partner_name;
  return card(
    head(page, 'stepWallet'),
    html`<h1>${onboard.whichWallet}</h1>`,
    announced
      ? html`<p>${fillHtml(onboard.announced, { partner, wallet: shortAddress(announced) })}</p>`
      : html`<p>${onboard.whichRest}</p>`,
    refusalLine(words, refusal, ['wallet_malformed']),
    connectForm(words, {
      action: `${path}/wallet`,
      chains,
      typed: {
        wallet_address: typed.wallet_address ?? (announced === null ? undefined : checksummed(announced)),
        chain_id: typed.chain_id,
      },
      fault: refusalSentence(words, refusal, 'wallet_malformed'),
      wanted: announced,
      unwanted: refusal ? row.chosen_wallet : null,
      elsewhere: elsewhereOf(page, 'connect'),
    }),
    announced === null && firstWallet(words),
    html`<p class="quiet"><a href="${path}?step=details">${onboard.changeDetails}</a></p>`,
  );
}

/** The step with the message to sign and the terms. */
export function signPage(page: StepPage, message: string, address: string, chains: OfferedChain[]): Html {
  const { words, path, refusal, typed } = page;
  const { onboard } = onboardingTexts(words);
  return card(
    head(page, 'stepSign'),
    html`<h1>${onboard.signTitle}</h1>`,
    refusalLine(words, refusal, ['signature_invalid', 'terms_not_accepted']),
    html`
      <p>${onboard.signRest}</p>
      ${descriptionList([[onboard.wallet, shortAddress(address)]])}
    `,
    signForm(words, {
      action: `${path}/complete`,
      address,
      message,
      before: termsField(words, refusalSentence(words, refusal, 'terms_not_accepted'), typed.accept_terms),
      signature: typed.signature ?? '',
      fault: refusalSentence(words, refusal, 'signature_invalid'),
      button: onboard.finish,
      chains,
      elsewhere: elsewhereOf(page, 'sign'),
    }),
    html`
      <p class="quiet">
        <a href="${path}?step=wallet">${onboard.changeWallet}</a>
        ${' · '}
        <a href="${path}?step=details">${onboard.changeDetails}</a>
      </p>
    `,
  );
}

/**
 * The binding English terms, preceded by a translation for readers of other languages, and the checkbox to accept them.
 */
function termsField(words: Words, fault: string | undefined, typed: string | undefined): Html {
  const { onboard } = onboardingTexts(words);
  const { version } = terms;
  const name = fill(onboard.terms, { version });
  const described = fault === undefined ? null : html`${isWrong} aria-describedby="terms-fault"`;
  const translated =
    words.language !== 'en' &&
    html`
      <p class="quiet">${onboard.termsTranslated}</p>
      ${termsText(termsIn(words), name)}
      <p><strong>${onboard.termsBinding}</strong></p>
    `;
  return html`
    <details>
      <summary>${name}</summary>
      ${translated}
      ${termsText(bindingTerms(), words.language === 'en' ? name : onboard.termsBinding, html` lang="en" dir="ltr"`)}
    </details>
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          name="accept_terms"
          value="${version}"
          required${typed === version && html` checked`}${described}
        >
        <span>${fill(onboard.accept, { version })}</span>
      </label>
      ${fault !== undefined && html`<p class="fault" id="terms-fault">${fault}</p>`}
    </div>
  `;
}

function termsText(sections: { title: string; text: string }[], name: string, language: Html | null = null): Html {
  return html`
    <div class="terms" tabindex="0" role="group" aria-label="${name}"${language}>
      ${sections.map(({ title, text }) => html`<div><h3>${title}</h3><p>${text}</p></div>`)}
    </div>
  `;
}
