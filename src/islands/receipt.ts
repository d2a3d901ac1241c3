/** Shows the receipt's times in the reader's time zone, and a print button. */
import { localTimes } from './lib/local-times.ts';

localTimes(document);
const button = document.querySelector<HTMLButtonElement>('[data-print]');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
