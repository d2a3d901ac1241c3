import { type Html, html } from '../../lib/text/html.ts';
import { commonTexts } from '../../texts/common.ts';
import { type SignInTexts, signInTexts } from '../../texts/sign-in.ts';
import { field, hiddenField } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { notice } from '../../web/shell.ts';
import { actionsColumn, table } from '../../web/table.ts';
import type { Realm } from '../realm.ts';
import type { Passkey } from './passkeys.ts';
import { isPasskeyRefusal } from './refusal.ts';

/** The texts that browser code shows while it waits for a passkey, or if there was none. */
export type PasskeyTexts = SignInTexts['passkey']['browser'];

/**
 * A form that browser code shows and submits with a passkey's response; without script only `instead` is shown.
 *
 * @param action the form's address
 * @param inside the form's fields and its button
 * @param options the address of the options for the browser
 */
function passkeyForm(
  words: Words,
  action: string,
  inside: Html,
  instead: Html | null,
  options = `${action}/options`,
): Html {
  const texts: PasskeyTexts = signInTexts(words).passkey.browser;
  return html`
    <form method="post" action="${action}" data-passkey="${options}" data-texts="${JSON.stringify(texts)}" hidden>
      ${hiddenField('passkey', '')}
      ${inside}
      <p class="told" role="status" hidden></p>
    </form>
    ${instead && html`<div data-passkey-none>${instead}</div>`}
  `;
}

/** The button that signs in with a passkey. `alone`: there is no other way on this page. */
export function passkeySignIn(words: Words, realm: Realm, alone: boolean): Html {
  const { passkey: t } = signInTexts(words);
  const button = html`<button${!alone && html` class="second"`}>${t.signIn}</button>`;
  return passkeyForm(words, `${realm.path}/sign-in/passkey`, button, alone ? html`<p>${t.none}</p>` : null);
}

/** A form that continues to `action` with a passkey, and with the fields that were typed before. */
export function passkeyConfirm(words: Words, realm: Realm, action: string, kept: Html): Html {
  const { passkey: t } = signInTexts(words);
  const options = `${realm.path}/passkeys/confirm/options`;
  return passkeyForm(words, action, html`${kept}<button>${t.confirm}</button>`, html`<p>${t.none}</p>`, options);
}

/** The data of the section about one's own passkeys. */
export type PasskeysView = { realm: Realm; passkeys: Passkey[]; fresh: boolean; browser: string };

/** One's passkeys with the forms that add and remove one, or, without a recent sign-in, the form that confirms it. */
export function passkeysSection(words: Words, { realm, passkeys, fresh, browser }: PasskeysView): Html {
  const { passkey: t } = signInTexts(words);
  const path = `${realm.path}/passkeys`;
  const may = fresh ? addForm(words, path, browser) : confirmForm(words, realm, path, passkeys.length > 0);
  return html`
    <h2 id="passkeys">${t.heading}</h2>
    <p class="quiet">${t.rest}</p>
    ${passkeys.length > 0 && passkeyTable(words, path, passkeys, fresh)}
    <section class="card">${may}</section>
  `;
}

function passkeyTable(words: Words, path: string, passkeys: Passkey[], fresh: boolean): Html {
  const { passkey: t } = signInTexts(words);
  const question = (name: string) => ({
    label: t.remove.label,
    title: fill(t.remove.title, { name }),
    consequence: passkeys.length === 1 ? t.remove.lastRest : t.remove.rest,
    action: `${path}/remove`,
    danger: true as const,
  });
  return table<Passkey>(
    t.heading,
    [
      { name: t.name, cell: ({ name }) => name },
      { name: t.created, cell: ({ created_at }) => instant(words, created_at) },
      {
        name: t.lastUsed,
        cell: ({ last_used_at }) => (last_used_at === null ? t.never : instant(words, last_used_at)),
      },
      actionsColumn(words, ({ id, name }) => (fresh ? confirmButton(question(name), hiddenField('id', id)) : null)),
    ],
    passkeys,
  );
}

function addForm(words: Words, path: string, browser: string): Html {
  const { passkey: t } = signInTexts(words);
  const name = field({
    name: 'name',
    label: t.name,
    hint: t.nameHint,
    value: browser,
    attributes: 'required maxlength="60" autocomplete="off"',
  });
  return passkeyForm(words, path, html`${name}<button>${t.add}</button>`, html`<p>${t.none}</p>`);
}

/** For a user who signed in a while ago: the form that confirms with a passkey, or signs in again. */
function confirmForm(words: Words, realm: Realm, path: string, has: boolean): Html {
  const { passkey: t } = signInTexts(words);
  const { app } = commonTexts(words);
  if (!has) {
    return html`<p>${t.signInAnew}</p>${form({ action: `${realm.path}/sign-out`, submit: app.signOut, second: true })}`;
  }
  const confirm = passkeyForm(words, `${path}/confirm`, html`<button>${t.confirm}</button>`, html`<p>${t.none}</p>`);
  return html`<p>${t.confirmRest}</p>${confirm}`;
}

/** The sentence for `?done=`; null for an unknown word. */
export function passkeyNotice(words: Words, word: unknown): Html | null {
  const { done, refusals } = signInTexts(words).passkey;
  if (isPasskeyRefusal(word)) return notice('attention', refusals[word]);
  const found = Object.entries(done).find(([name]) => name === word);
  return found ? notice('paid', found[1]) : null;
}
