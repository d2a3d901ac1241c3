/** The receipt's times, and its print button; without script, browsers print from their own menu. */
import { localTimes } from './lib/local-times.ts';

localTimes(document);
const button = document.querySelector<HTMLButtonElement>('[data-print]');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
