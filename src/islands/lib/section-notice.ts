import { announceIn } from './announce.ts';

/** A notice about the act tried last. The server may send its section anew, which then shows it again. */
export class SectionNotice {
  readonly #place: () => HTMLElement | null | undefined;
  #text = '';
  #isFault = false;

  constructor(place: () => HTMLElement | null | undefined) {
    this.#place = place;
  }

  show(text: string, isFault = false): void {
    this.#text = text;
    this.#isFault = isFault;
    announceIn(this.#place(), text, isFault);
  }

  /** Handles a section that may be new. */
  showAgain(): void {
    const place = this.#place();
    if (this.#text !== '' && place?.textContent === '') announceIn(place, this.#text, this.#isFault);
  }

  /** A new section does not show it any more, because something else is true now. */
  forget(): void {
    this.#text = '';
  }
}
