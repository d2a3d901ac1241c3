import { existsSync } from 'node:fs';

/** The system's Chromium, or null: without it page tests are skipped. */
export function findChromium(): string | null {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return places.find((place) => existsSync(place)) ?? null;
}
