import { copyFrom } from './lib/copy.ts';
import { runCountdown } from './lib/countdown.ts';
import { followState, type LiveState } from './lib/live.ts';
import { partPlaces, replacePart } from './lib/parts.ts';
import type { IslandTexts } from './lib/texts.ts';

const root = document.getElementById('checkout');
if (root) start(root);

function start(root: HTMLElement): void {
  const texts = JSON.parse(root.dataset.texts ?? '{}') as IslandTexts;
  const path = root.dataset.path ?? location.pathname;

  /** Told to screen readers only: the page shows it in another way. */
  const say = (text: string) => {
    const place = root.querySelector('[data-say]');
    if (place) place.textContent = text;
  };
  /** What works only with script. */
  const enhance = (place: HTMLElement) => {
    for (const button of place.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
  };
  const hear = (state: LiveState) => {
    document.title = state.title;
    for (const place of partPlaces(root)) {
      const part = state.parts.find(({ name }) => name === place.dataset.part);
      if (!part || part.version === place.dataset.version) continue;
      replacePart(place, part);
      enhance(place);
    }
  };
  const silent = root.querySelector<HTMLElement>('[data-silence]');
  const askNow = followState(path, hear, (why) => {
    if (!silent) return;
    silent.hidden = why === null;
    silent.textContent = why === null ? '' : (texts[why] ?? '');
  });

  enhance(root);
  runCountdown(askNow);
  root.addEventListener('click', ({ target }) => {
    const button = (target as Element).closest<HTMLElement>('[data-copy]');
    if (button) void copyFrom(button, say, texts.copied ?? '');
  });
}
