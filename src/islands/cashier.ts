/** The cashier's keypad, and a screen that updates itself. */
import './lib/regions.ts';
import { keepForms } from './lib/kept-forms.ts';

keepForms();

const form = document.querySelector<HTMLFormElement>('[data-keypad]');
if (form) start(form, Number(form.dataset.keypad));

function start(form: HTMLFormElement, fractionDigits: number): void {
  const amount = form.querySelector<HTMLInputElement>('[name="amount"]');
  const keys = form.querySelector<HTMLElement>('.keys');
  if (!amount || !keys) return;
  keys.hidden = false;
  // With our keypad, a phone need not show its own.
  if (matchMedia('(pointer: coarse)').matches) amount.inputMode = 'none';
  keys.addEventListener('click', ({ target }) => {
    const key = (target as Element).closest<HTMLElement>('[data-key]')?.dataset.key;
    if (key !== undefined) amount.value = press(amount.value, key, fractionDigits);
  });
}

/** The field's text after a key. A key that would not result in an amount changes nothing. */
function press(text: string, key: string, fractionDigits: number): string {
  if (key === 'back') return text.slice(0, -1);
  const next = /^\D$/.test(key) && text === '' ? `0${key}` : text + key;
  const pattern = fractionDigits === 0 ? /^\d{1,10}$/ : new RegExp(`^\\d{1,10}([.,]\\d{0,${fractionDigits}})?$`);
  return pattern.test(next) ? next : text;
}
