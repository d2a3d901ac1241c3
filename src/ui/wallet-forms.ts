import { type Html, html } from '../lib/text/html.ts';
import { type WalletTexts, walletTexts } from '../texts/wallets.ts';
import { checksummed } from './address.ts';
import { field, hiddenField, optionList, selectField } from './components.ts';
import type { Words } from './language.ts';

/** A network that a page offers. `publicRpcUrl` is for wallets that do not know the network yet. */
export type OfferedChain = {
  chainId: number;
  name: string;
  publicRpcUrl?: string;
  coin?: string;
  explorerUrl: string | null;
};

/** The data for browser code, which reads it from the element's `data-wallets`. */
export type WalletsData = {
  texts: WalletTexts['signing']['browser'];
  /** The networks that may be used, the chosen one first. */
  chains: OfferedChain[];
  /** For signing: the wallet that must sign, in lower case. For connecting: the expected wallet, if there is one. */
  wanted: string | null;
  /** The same with its checksum, for people. */
  wantedShown: string | null;
  /** For connecting: a wallet that must not be chosen. */
  unwanted: string | null;
  signing: boolean;
};

/**
 * The part of a network's configuration that browsers may know. The rest contains our RPC addresses with their keys.
 */
function offeredOnly({ chainId, name, publicRpcUrl, coin, explorerUrl }: OfferedChain): OfferedChain {
  return { chainId, name, explorerUrl, ...(publicRpcUrl && { publicRpcUrl }), ...(coin && { coin }) };
}

/** Networks with the chosen one at the front. */
export function chosenFirst<T extends OfferedChain>(chains: T[], chosen: number | null): T[] {
  const isOther = ({ chainId }: T) => chainId !== chosen;
  return [...chains.filter((chain) => !isOther(chain)), ...chains.filter(isOther)];
}

/** The ways to wallets outside this browser: a WalletConnect button, and links or a code for a phone. */
export type Elsewhere = { pair: Html | null; phone: Html | null };

/** The element in which browser code lists the wallets and says what it waits for; empty without script. */
function walletList(
  words: Words,
  data: Omit<WalletsData, 'texts' | 'wantedShown'>,
  elsewhere: Elsewhere | undefined,
): Html {
  const { browser: texts } = walletTexts(words).signing;
  const wantedShown = data.wanted && checksummed(data.wanted);
  const all: WalletsData = { texts, ...data, wantedShown, chains: data.chains.map(offeredOnly) };
  return html`
    <div class="wallets" data-wallets="${JSON.stringify(all)}" hidden></div>
    ${elsewhere?.pair}
    <p class="told" role="alert" hidden></p>
    ${elsewhere?.phone}
  `;
}

export type ConnectForm = {
  action: string;
  chains: OfferedChain[];
  /** What was typed. */
  typed: { wallet_address?: string | undefined; chain_id?: string | undefined };
  /** A sentence about a fault in what was typed. */
  fault: string | undefined;
  /** The expected wallet, and one that must not be chosen, in lower case. */
  wanted?: string | null;
  unwanted?: string | null;
  elsewhere?: Elsewhere;
};

/** A form for a wallet's address: from a wallet in this browser, or typed. */
export function connectForm(words: Words, form: ConnectForm): Html {
  const { signing } = walletTexts(words);
  const { chains, typed, elsewhere, wanted = null, unwanted = null } = form;
  const options = chains.map(({ chainId, name }) => [String(chainId), name] as const);
  const choice = selectField({
    name: 'chain_id',
    label: signing.network,
    options: optionList(options, typed.chain_id),
  });
  const only = hiddenField('chain_id', String(chains[0]?.chainId ?? ''));
  return html`
    ${walletList(words, { chains, wanted, unwanted, signing: false }, elsewhere)}
    <details class="manual" open>
      <summary>${signing.manual}</summary>
      <form method="post" action="${form.action}">
        ${field({
          name: 'wallet_address',
          label: signing.address,
          hint: signing.addressHint,
          value: typed.wallet_address ?? '',
          fault: form.fault,
          attributes:
            'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="42" dir="ltr" placeholder="0x…"',
        })}
        ${chains.length > 1 ? choice : only}
        <button class="second">${signing.useAddress}</button>
      </form>
    </details>
  `;
}

export type SignForm = {
  action: string;
  /** The wallet that must sign. */
  address: string;
  message: string;
  /** The content above the buttons, inside the form, such as terms to accept. */
  before?: Html;
  /** What was typed. */
  signature: string;
  fault: string | undefined;
  /** Hidden values for the next step. */
  carry?: Record<string, string>;
  /** Text of the button that sends a signature made elsewhere. */
  button: string;
  /** For a wallet outside this browser, the networks that it may use; the message's network comes first. */
  chains?: OfferedChain[];
  elsewhere?: Elsewhere;
};

/** A form for a wallet's signature of a message: from a wallet in this browser, or typed. */
export function signForm(words: Words, form: SignForm): Html {
  const { signing } = walletTexts(words);
  const { chains = [], address: wanted, elsewhere } = form;
  return html`
    <form method="post" action="${form.action}">
      ${hiddenField('message', form.message)}
      ${Object.entries(form.carry ?? {}).map(([name, value]) => hiddenField(name, value))}
      ${form.before}
      ${walletList(words, { chains, wanted, unwanted: null, signing: true }, elsewhere)}
      <details class="manual" open>
        <summary>${signing.manual}</summary>
        <div class="stack">
          <p class="quiet">${signing.signHint}</p>
          <pre tabindex="0" dir="ltr" aria-label="${signing.message}">${form.message}</pre>
          ${field({
            name: 'signature',
            label: signing.signature,
            hint: signing.signatureHint,
            value: form.signature,
            fault: form.fault,
            rows: 3,
            attributes:
              'required autocomplete="off" autocapitalize="off" spellcheck="false" dir="ltr" placeholder="0x…"',
          })}
          <button class="second">${form.button}</button>
        </div>
      </details>
    </form>
  `;
}
