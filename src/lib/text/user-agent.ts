/** The first match counts: browsers also name those they descend from. */
const browsers: [RegExp, string][] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bVersion\/[\d.]+ .*Safari\//, 'Safari'],
];
const systems: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const maxOther = 60;

/** The longest user agent that is matched, in characters; real ones are shorter. */
export const maxUserAgent = 512;
const maxKept = 300;

/** A user agent as it is stored: its first 300 characters; null without one. */
export const keptUserAgent = (userAgent: string | undefined): string | null => userAgent?.slice(0, maxKept) ?? null;

/**
 * A browser as its owner would name it, from its user agent: `Firefox, Windows`. Anything else is returned unchanged,
 * truncated.
 */
export function browserName(userAgent: string): string {
  const read = userAgent.slice(0, maxUserAgent);
  const named = [browsers, systems].flatMap((known) => known.find(([pattern]) => pattern.test(read))?.[1] ?? []);
  return named.length === 2 ? named.join(', ') : userAgent.slice(0, maxOther);
}
