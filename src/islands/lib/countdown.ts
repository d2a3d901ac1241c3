import { dayMs, minuteMs } from '../../lib/durations.ts';
import { fillText, language } from './texts.ts';

const units = [
  [48 * 60 * minuteMs, dayMs, 'day'],
  [120 * minuteMs, 60 * minuteMs, 'hour'],
  [10 * minuteMs, minuteMs, 'minute'],
] as const;

/**
 * Runs the countdown by the server's clock. It is not announced to screen readers, which can read the end in the page.
 *
 * @param end called when the time is up
 */
export function runCountdown(end: () => void): void {
  const tick = () => {
    const box = document.querySelector<HTMLElement>('.countdown');
    const bar = box?.querySelector('progress');
    const text = box?.querySelector<HTMLElement>('[data-left]');
    if (!box || !bar || !text) return;
    const until = Date.parse(box.dataset.until ?? '');
    // The bar's initial value is what was left by the server's clock. The device's clock may be wrong.
    box.dataset.ahead ??= String(until - bar.value - Date.now());
    const left = Math.max(0, until - Number(box.dataset.ahead) - Date.now());
    bar.value = left;
    const remainingText = fillText(text.dataset.left, { time: remaining(left) });
    if (text.textContent !== remainingText) text.textContent = remainingText;
    if (left > 0 || box.dataset.ended) return;
    box.dataset.ended = 'yes';
    end();
  };
  tick();
  setInterval(tick, 1_000);
}

/** `2 days`, `14 minutes`, and below ten minutes `9:41`. */
function remaining(ms: number): string {
  for (const [fromMs, unitMs, unit] of units) {
    if (ms >= fromMs) {
      return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(
        Math.floor(ms / unitMs),
      );
    }
  }
  const seconds = Math.ceil(ms / 1_000);
  const two = new Intl.NumberFormat(language, { minimumIntegerDigits: 2 });
  return `${new Intl.NumberFormat(language).format(Math.floor(seconds / 60))}:${two.format(seconds % 60)}`;
}
