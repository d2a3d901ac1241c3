/** The receipt's print button; without script, browsers print from their own menu. */
const button = document.querySelector<HTMLButtonElement>('[data-print]');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}
