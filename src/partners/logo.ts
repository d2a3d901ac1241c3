import { createHash } from 'node:crypto';

/** The most bytes that a logo may have. */
export const maxLogoBytes = 64 * 1024;

export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';
/** A stored logo; `hash` is 16 hex digits of the SHA-256 of its bytes. */
export type Logo = { bytes: Buffer; type: LogoType; hash: string };

const kinds: [LogoType, (start: string) => boolean][] = [
  ['image/png', (start) => start.startsWith('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', (start) => start.startsWith('\xff\xd8\xff')],
  ['image/webp', (start) => start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP'],
];

/** What to throw for a logo of too many bytes. */
export function logoTooLarge(bytes: number): Error {
  return new Error(`The logo has ${bytes} bytes; the limit is ${maxLogoBytes}. Use a smaller file.`);
}

/**
 * Reads a logo from a file's bytes. The first bytes decide the image type, never the file name.
 *
 * @throws Error with a sentence when it is too large or not an accepted image
 */
export function logoFrom(bytes: Buffer): Logo {
  if (bytes.length > maxLogoBytes) throw logoTooLarge(bytes.length);
  const start = bytes.toString('latin1', 0, 16);
  const kind = kinds.find(([, begins]) => begins(start));
  if (kind) return { bytes, type: kind[0], hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
  throw new Error(
    /<svg[\s>]/i.test(bytes.toString('latin1'))
      ? 'SVG logos are not accepted, because SVG can carry scripts and load remote content. Use PNG, JPEG or WebP.'
      : 'The logo is not a PNG, JPEG or WebP image.',
  );
}

/** The path of a partner's logo on this site. It changes with the logo; null without one. */
export function logoPath(partner: { slug: string; logo_hash: string | null }): string | null {
  return partner.logo_hash === null ? null : `/logo/${partner.slug}?v=${partner.logo_hash}`;
}
