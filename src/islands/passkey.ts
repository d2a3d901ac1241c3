import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import type { PasskeyTexts } from '../users/passkeys/sections.ts';
import { announceIn } from './lib/announce.ts';
import { promiseTyped } from './lib/kept-forms.ts';

const answerMs = 20_000;

promiseTyped();

if (browserSupportsWebAuthn()) {
  for (const place of document.querySelectorAll<HTMLElement>('[data-passkey-none]')) place.hidden = true;
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) start(form);
}

/** Shows a form that needs a passkey. Its button asks the browser for one, and submits the response. */
function start(form: HTMLFormElement): void {
  const { passkey: path = '', texts: json = '{}' } = form.dataset;
  const texts = JSON.parse(json) as PasskeyTexts;
  const messageBox = form.querySelector<HTMLElement>('.told');
  const button = form.querySelector<HTMLButtonElement>('button');
  const field = form.elements.namedItem('passkey') as HTMLInputElement;
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (form.ariaBusy) return;
    // Not `disabled`, which takes the focus from the button: it is to be pressed again after a refusal.
    form.ariaBusy = 'true';
    if (button) button.ariaBusy = 'true';
    announceIn(messageBox, texts.waiting);
    const answer = await answerTo(path).catch((error: unknown) => {
      announceIn(messageBox, texts[faultOf(error)], true);
      return null;
    });
    form.ariaBusy = null;
    if (button) button.ariaBusy = null;
    if (answer === null) return;
    field.value = JSON.stringify(answer);
    form.submit();
  });
}

class Unreachable extends Error {}

/**
 * The browser's response to the server's request: a new passkey if the request names an account, otherwise an existing
 * one.
 */
async function answerTo(path: string): Promise<object> {
  const options = await fetch(path, { signal: AbortSignal.timeout(answerMs) })
    .then((answer) => (answer.ok ? answer.json() : null))
    .catch(() => null);
  if (options === null) throw new Unreachable();
  return options.user ? startRegistration({ optionsJSON: options }) : startAuthentication({ optionsJSON: options });
}

function faultOf(error: unknown): keyof PasskeyTexts {
  if (error instanceof Unreachable) return 'unreachable';
  const { name } = error as Error;
  if (name === 'NotAllowedError' || name === 'AbortError') return 'declined';
  return name === 'InvalidStateError' ? 'known' : 'failed';
}
