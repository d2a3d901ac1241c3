/** The first that fits: browsers name those that they descend from as well. */
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

/** What a browser says of itself, in characters: theirs are shorter, and what is matched and kept of it has an end. */
export const maxUserAgent = 512;

/** A browser as its owner would call it, by what it says of itself: `Firefox, Windows`. Something else is given as it is, cut. */
export function browserName(userAgent: string): string {
  const read = userAgent.slice(0, maxUserAgent);
  const named = [browsers, systems].flatMap((known) => known.find(([pattern]) => pattern.test(read))?.[1] ?? []);
  return named.length === 2 ? named.join(', ') : userAgent.slice(0, maxOther);
}
