import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';

/** The requested path, without the query. */
export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

type Route = { pattern: RegExp; methods: string[]; fixed: boolean };

/**
 * Checks that a route declares who may call it, and that a form of the portal or the administration declares whether it
 * needs more than the session.
 *
 * @throws Error if it does not
 */
export function assertDeclared({ url, method, config }: Pick<RouteOptions, 'url' | 'method' | 'config'>): void {
  if (config?.auth === undefined) throw new Error(`Route ${method} ${url} does not declare who may call it.`);
  const isForm = method === 'POST' && config?.auth === 'session' && /^\/(?:portal|admin)\//.test(url);
  if (isForm && config.fresh === undefined)
    throw new Error(`Route POST ${url} does not declare whether it needs more than the session.`);
}

/** The routes of a server. `allowedMethods` returns the methods of a path, none if the path is unknown. */
export type RouteTable = { allowedMethods(path: string): string[] };

/** Records the routes that are added from now on. A route that does not declare who may call it fails the start. */
export function collectRoutes(app: FastifyInstance): RouteTable {
  const routes = new Map<string, Route>();
  app.addHook('onRoute', ({ url, method, config }) => {
    assertDeclared({ url, method, config });
    const pattern = new RegExp(
      `^${url
        .replace(/(:[a-z_]+)\([^/]*\)/gi, '$1') // without a parameter's pattern
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[a-z_]+/gi, '[^/]+')
        .replace('\\*', '.*')}$`,
    );
    const known = routes.get(url) ?? { pattern, methods: [], fixed: !url.includes(':') };
    known.methods.push(...[method].flat());
    routes.set(url, known);
  });
  return {
    // A route without parameters takes precedence, whatever the method.
    allowedMethods: (path) => {
      const written = routes.get(path);
      if (written?.fixed) return written.methods;
      const matching = [...routes.values()].filter((route) => route.pattern.test(path));
      return (matching.find((route) => route.fixed) ?? matching[0])?.methods ?? [];
    },
  };
}
