import type { Config } from '../config.ts';

/** What the paths of pay pages begin with: `/pay`, or nothing if they have a host of their own. */
const payBase = ({ payUrl }: Pick<Config, 'payUrl'>): string => new URL(payUrl).pathname.replace(/\/+$/, '');

/** The route of pay pages: `/pay/:request_id`, or only the id if they have a host of their own. */
export function payRoute(config: Pick<Config, 'payUrl'>): string {
  const path = payBase(config);
  // At the root, this route matches only what looks like an id, so that other routes keep their addresses.
  return path === '' ? '/:request_id([0-9a-fA-F-]{36})' : `${path}/:request_id`;
}

/** Whether a path is that of a pay page, or was meant to be: it may end with a slash, which makes it unknown. */
export function isPayPagePath(config: Pick<Config, 'payUrl'>, path: string): boolean {
  const base = payBase(config);
  const id = base === '' ? /^\/[0-9a-f-]{36}\/?$/i : /^\/[^/]+\/?$/;
  return path.startsWith(base) && id.test(path.slice(base.length));
}

/** The path of a pay page's public address. */
export function payPagePath(url: string): string {
  return new URL(url).pathname;
}

/** The route of plans' pages: `/pay/plans/:plan_id/:token`, without `/pay` if pay pages have a host of their own. */
export function planRoute(config: Pick<Config, 'payUrl'>): string {
  return `${payBase(config)}/plans/:plan_id/:token`;
}
