import { existsSync } from 'node:fs';

/** The system's PHP, or null: programs in it are left out where there is none. */
export function findPhp(): string | null {
  const places = ['/usr/bin/php', '/usr/local/bin/php', '/opt/homebrew/bin/php'];
  return places.find((place) => existsSync(place)) ?? null;
}
