import { copyFrom } from './lib/copy.ts';
import { runCountdown } from './lib/countdown.ts';
import { followState, type LiveState } from './lib/live.ts';
import { localTimes } from './lib/local-times.ts';
import { type Part, partPlaces, replacePart } from './lib/parts.ts';
import { PayWays } from './lib/pay-ways.ts';
import { tellIn } from './lib/tell.ts';
import type { IslandTexts } from './lib/texts.ts';
import { findWallets } from './lib/wallet-buttons.ts';

const root = document.getElementById('checkout');
if (root) start(root);

function start(root: HTMLElement): void {
  const texts = JSON.parse(root.dataset.texts ?? '{}') as IslandTexts;
  const path = root.dataset.path ?? location.pathname;
  let latest: LiveState | undefined;

  /** Told to screen readers only: the page shows it in another way. */
  const say = (text: string) => {
    const place = root.querySelector('[data-say]');
    if (place) place.textContent = text;
  };
  /** What works only with script. */
  const enhance = (place: HTMLElement) => {
    for (const button of place.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false;
    localTimes(place);
    ways.show();
  };
  /** Nothing is taken from under the hands of somebody, unless it no longer holds. */
  const isHeld = (place: HTMLElement, { name, html }: Part) => {
    if (html === '') return false;
    if (name === 'ways') return ways.busy;
    return name === 'proof' && [...place.querySelectorAll('input')].some(isInUse);
  };
  const hear = (state: LiveState) => {
    latest = state;
    document.title = state.title;
    ways.hear(state.kind);
    for (const place of partPlaces(root)) {
      const part = state.parts.find(({ name }) => name === place.dataset.part);
      if (!part || part.version === place.dataset.version || isHeld(place, part)) continue;
      replacePart(place, part);
      enhance(place);
    }
  };
  const silent = root.querySelector<HTMLElement>('[data-silence]');
  const askNow = followState(path, hear, (why) => tellIn(silent, why === null ? '' : (texts[why] ?? '')));
  const ways = new PayWays({ root, path, texts, askNow, released: () => latest && hear(latest) });

  enhance(root);
  runCountdown(askNow);
  findWallets(texts.browserWallet ?? '', (wallets) => ways.show(wallets));
  root.addEventListener('click', ({ target }) => {
    const pressed = target as Element;
    const copy = pressed.closest<HTMLElement>('[data-copy]');
    if (copy) void copyFrom(copy, say, texts.copied ?? '');
    ways.pressed(pressed);
  });
}

function isInUse(input: HTMLInputElement): boolean {
  return input.type !== 'hidden' && (input === document.activeElement || input.value !== input.defaultValue);
}
