export type Browser = 'Chrome' | 'Edge' | 'Firefox' | 'Safari';
export type Versions = Record<Browser, number>;

/** The oldest browsers in which customers can pay, and merchants can finish onboarding. Also what code is built for. */
export const oldestForCustomers: Versions = { Chrome: 111, Edge: 111, Firefox: 121, Safari: 16.4 };

/** The oldest browsers for pages behind a sign-in: their menu on phones is a popover. */
export const oldestForUsers: Versions = { Chrome: 114, Edge: 114, Firefox: 125, Safari: 17 };

/** The same as esbuild's targets. Safari is also what iPhones have, whichever browser is installed there. */
export const buildTargets: string[] = [
  ...Object.entries(oldestForCustomers).map(([name, version]) => `${name.toLowerCase()}${version}`),
  `ios${oldestForCustomers.Safari}`,
];

/** `Chrome 111, Edge 111, Firefox 121, Safari 16.4`. */
export const browserList = (versions: Versions): string =>
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
