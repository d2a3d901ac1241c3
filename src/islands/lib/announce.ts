/** Shows in an element what a wallet waits for, or why nothing was sent. */
export function announceIn(place: HTMLElement | null | undefined, text: string, isFault = false): void {
  if (!place) return;
  place.setAttribute('role', isFault ? 'alert' : 'status');
  place.classList.toggle('refused', isFault);
  place.hidden = text === '';
  place.textContent = text;
}
