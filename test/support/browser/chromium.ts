import { existsSync } from 'node:fs';

/** The system's Chromium, or null: page tests are left out where there is none. */
export function findChromium(): string | null {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return places.find((place) => existsSync(place)) ?? null;
}
