import { existsSync } from 'node:fs';

/** The system's PHP, or null: without it PHP programs are skipped. */
export function findPhp(): string | null {
  const places = ['/usr/bin/php', '/usr/local/bin/php', '/opt/homebrew/bin/php'];
  return places.find((place) => existsSync(place)) ?? null;
}
