import type { FastifyRequest } from 'fastify';
import { isForAgent } from '../checkout/agents/agent.ts';
import type { Config } from '../config.ts';
import { pathOf, type RouteTable } from './route-table.ts';

/** What addresses of pages consist of. Others could lead elsewhere: browsers read `/\example.com` as another site. */
const plainPath = /^(?:\/[\w.~-]+)+\/$/;

/**
 * The address of the page that is meant by an address with a slash at its end, with the query; null if there is none.
 * People and some apps add the slash. Programs are refused, so that they are corrected.
 */
export function withoutSlash(
  config: Pick<Config, 'payUrl'>,
  routes: RouteTable,
  request: FastifyRequest,
): string | null {
  const path = pathOf(request);
  if (path.startsWith('/api/') || !plainPath.test(path) || isForAgent(config, request)) return null;
  const page = path.slice(0, -1);
  const isPage = ['GET', 'HEAD'].includes(request.method) && routes.allowedMethods(page).includes(request.method);
  return isPage ? page + request.url.slice(path.length) : null;
}
