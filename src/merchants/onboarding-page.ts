import type { ChainConfig } from '../chain/config.ts';
import { type Html, html } from '../lib/html.ts';
import { card, carried, type Field, facts, field, mono, stateLine } from '../ui/components.ts';
import { detailLimits } from './onboarding-details.ts';
import { type OnboardingReason, type OnboardingRefusal, onboardingRefusals } from './onboarding-refusal.ts';
import type { OnboardingRow } from './onboarding-store.ts';
import { terms } from './terms.ts';

/** What was typed into a form, by field. */
export type Typed = Record<string, string | undefined>;

const steps = ['E-mail', 'Details', 'Sign', 'Done'] as const;
type Step = (typeof steps)[number];

function stepList(row: OnboardingRow, current: Step): Html {
  const shown = row.email === null ? steps.slice(1) : steps;
  const at = steps.indexOf(current);
  return html`<ol class="steps">${shown.map((step) => {
    if (step === current) return html`<li aria-current="step">${step}</li>`;
    return html`<li${steps.indexOf(step) < at && html` class="done"`}>${step}</li>`;
  })}</ol>`;
}

function refusalLine(refusal: OnboardingRefusal | null): Html | null {
  if (!refusal) return null;
  const [, title, advice] = onboardingRefusals[refusal.reason];
  return stateLine('attention', title, advice);
}

/** `a••••@example.com`: enough to know the mailbox by, not enough to learn it. */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, 1)}••••${email.slice(at)}`;
}

/** Step 1, where the partner gave an e-mail address: have a code sent. */
export function sendCodePage(row: OnboardingRow, path: string, refusal: OnboardingRefusal | null): Html {
  return card(
    stepList(row, 'E-mail'),
    html`<h1>${row.partner_name} invites you to be paid in stablecoins</h1>`,
    refusalLine(refusal),
    html`<p>First we make sure it is you. We send a code to <strong>${maskEmail(row.email ?? '')}</strong>, the address ${row.partner_name} gave us.</p>
<form method="post" action="${path}/code"><button>Send me the code</button></form>`,
  );
}

/** Step 1, the code is under way. */
export function enterCodePage(row: OnboardingRow, path: string, refusal: OnboardingRefusal | null): Html {
  const fault = refusal?.reason === 'email_code_wrong' ? onboardingRefusals.email_code_wrong : null;
  return card(
    stepList(row, 'E-mail'),
    html`<h1>Enter the code from your e-mail</h1>`,
    fault ? null : refusalLine(refusal),
    html`<form method="post" action="${path}/email">
${field({
  name: 'code',
  label: 'Six digits',
  hint: `Sent to ${maskEmail(row.email ?? '')}. It lives for 15 minutes.`,
  fault: fault ? `${fault[1]}. ${fault[2]}` : undefined,
  attributes: 'required inputmode="numeric" autocomplete="one-time-code" maxlength="12" autofocus',
})}
<button>Go on</button></form>
<form method="post" action="${path}/code"><button class="second">Send another code</button></form>`,
  );
}

const labels: Record<keyof typeof detailLimits, [label: string, autocomplete: string]> = {
  display_name: ['Your name', 'name'],
  business_name: ['Business name, as your customers know it', 'organization'],
  country: ['Country, two letters', 'country'],
  phone: ['Phone', 'tel'],
  website: ['Website', 'url'],
};

/** Step 2: who they are, and which wallet is to be paid. */
export function detailsPage(
  row: OnboardingRow,
  path: string,
  chains: ChainConfig[],
  typed: Typed,
  refusal: OnboardingRefusal | null,
): Html {
  const value = (name: keyof typeof detailLimits) => typed[name] ?? row[name];
  const detailFields = Object.entries(labels).map(([key, [label, autocomplete]]) => {
    const name = key as keyof typeof detailLimits;
    const attributes = `autocomplete="${autocomplete}" maxlength="${detailLimits[name]}"`;
    return field({ name, label, value: value(name), fault: refusal?.faults[name], attributes });
  });
  const email: Field = {
    name: 'email',
    label: 'E-mail, if you want to hear from us',
    value: typed.email ?? '',
    fault: refusal?.faults.email,
    attributes: 'type="email" autocomplete="email" maxlength="254"',
  };
  return card(
    stepList(row, 'Details'),
    html`<h1>${row.email === null && html`${row.partner_name} invites you. `}Who is paid, and where?</h1>`,
    refusal && refusal.reason !== 'wallet_malformed' ? refusalLine(refusal) : null,
    html`<form method="post" action="${path}/details">
${carried('code', typed.code ?? '')}
${detailFields}
${row.email === null && field(email)}
${walletField(row, typed, refusal)}
${chainChoice(chains, typed.chain_id)}
<button>Go on to signing</button></form>`,
  );
}

function walletField(row: OnboardingRow, typed: Typed, refusal: OnboardingRefusal | null): Html {
  const announced = row.wallet_address;
  const malformed = refusal?.reason === 'wallet_malformed' ? onboardingRefusals.wallet_malformed : null;
  return field({
    name: 'wallet_address',
    label: 'Wallet address',
    hint: announced
      ? `${row.partner_name} named this wallet; you sign with it in the next step.`
      : 'The wallet that receives your money: 0x and 40 digits or letters. You sign with it in the next step.',
    value: announced ?? typed.wallet_address ?? '',
    fault: malformed ? `${malformed[1]}. ${malformed[2]}` : undefined,
    attributes: `required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="42"${announced ? ' readonly' : ' placeholder="0x…"'}`,
  });
}

function chainChoice(chains: ChainConfig[], typed: string | undefined): Html | null {
  if (chains.length < 2) return null;
  return html`<div class="field"><label for="chain_id">Network to sign in on</label><select id="chain_id" name="chain_id">${chains.map(
    ({ chainId, name }) =>
      html`<option value="${chainId}"${typed === String(chainId) && html` selected`}>${name}</option>`,
  )}</select></div>`;
}

/** Step 3: the message, its signature, and the terms. */
export function signPage(
  row: OnboardingRow,
  path: string,
  message: string,
  typed: Typed,
  refusal: OnboardingRefusal | null,
): Html {
  const sentence = (reason: OnboardingReason) =>
    refusal?.reason === reason ? `${onboardingRefusals[reason][1]}. ${onboardingRefusals[reason][2]}` : undefined;
  const inPlace = refusal?.reason === 'signature_invalid' || refusal?.reason === 'terms_not_accepted';
  const termsFault = sentence('terms_not_accepted');
  return card(
    stepList(row, 'Sign'),
    html`<h1>Show that the wallet is yours</h1>`,
    inPlace ? null : refusalLine(refusal),
    html`<p>Sign this message with your wallet. It costs nothing, moves nothing, and allows nobody to take money from you.</p>
<pre tabindex="0">${message}</pre>
<form method="post" action="${path}/complete">
${carried('message', message)}
${carried('code', typed.code ?? '')}
${carried('email', typed.email ?? '')}
${field({
  name: 'signature',
  label: 'Signature',
  hint: 'Wallets call it “sign message”. Paste what comes out, from 0x to the end.',
  value: typed.signature ?? '',
  fault: sentence('signature_invalid'),
  rows: 3,
  attributes: 'required autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="0x…"',
})}
${termsText()}
<div class="field"><label class="check"><input type="checkbox" name="accept_terms" value="${terms.version}" required${
      termsFault !== undefined && html` aria-invalid="true" aria-describedby="terms-fault"`
    }><span>I have read the terms, version ${terms.version}, and accept them.</span></label>
${termsFault !== undefined && html`<p class="fault" id="terms-fault">${termsFault}</p>`}</div>
<button>Finish</button></form>
<p class="quiet"><a href="${path}">Start again</a> with another wallet.</p>`,
  );
}

function termsText(): Html {
  return html`<details><summary>The terms, version ${terms.version}</summary><div class="terms" tabindex="0">${terms.sections.map(
    ({ title, text }) => html`<div><h3>${title}</h3><p>${text}</p></div>`,
  )}</div></details>`;
}

/** The end: what is true now. */
export function donePage(row: OnboardingRow, walletAddress: string): Html {
  return card(
    stepList(row, 'Done'),
    stateLine(
      'paid',
      'You are ready to be paid',
      `${row.partner_name} sees it at once and can ask for payments for you.`,
      'h1',
    ),
    facts([
      row.business_name || row.display_name ? ['Paid to', row.business_name ?? row.display_name ?? ''] : null,
      ['Your wallet', mono(walletAddress)],
      ['Terms accepted', `Version ${terms.version}`],
      ['Your merchant number', mono(row.id)],
    ]),
    html`<p class="quiet">This link has done its work; you can close the page.</p>`,
  );
}
