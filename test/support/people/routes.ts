import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import type { FastifyRequest } from 'fastify';
import type { Visit } from './forms.ts';

export type Method = 'GET' | 'POST';
/** A route with its path as registered: `/pay/:request_id`. */
export type Route = { method: Method; pattern: string };

/** All routes of a server, from `printRoutes({ commonPrefix: false })`. */
export function routesOf(tree: string): Route[] {
  const above: string[] = [];
  const found: Route[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^(.*?)[├└]── (\S+) \(([^)]*)\)$/.exec(line) ?? [];
    if (!part) continue;
    above.splice(indent.length / 4, above.length, part);
    for (const method of methods.split(', ')) {
      if (method === 'GET' || method === 'POST') found.push({ method, pattern: above.join('') });
    }
  }
  return found;
}

/** What a route's handlers read: query parameters and body fields. `whole`: whether they read the body as a whole. */
export type Read = { query: Set<string>; body: Set<string>; whole: boolean };

const keyOf = (method: string, pattern: string) => `${method} ${pattern}`;

/** Records which parameters the handlers of a server in this process read, without a list of them. */
export function watchReads(): { of(route: Route): Read; stop(): void } {
  const reads = new Map<string, Read>();
  const of = (key: string) => {
    const known = reads.get(key) ?? { query: new Set<string>(), body: new Set<string>(), whole: false };
    reads.set(key, known);
    return known;
  };
  const watched = <T>(value: T, names: Set<string>, onWhole = () => {}): T => {
    // The bytes of a form with files work only as they are.
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
    return new Proxy(value, {
      get: (target, name, self) => {
        if (typeof name === 'string' && !(name in Object.prototype)) names.add(name);
        return Reflect.get(target, name, self);
      },
      ownKeys: (target) => {
        onWhole();
        return Reflect.ownKeys(target);
      },
    });
  };
  const start = (message: unknown) => {
    const { request, route } = message as { request: FastifyRequest; route: { url: string } };
    const read = of(keyOf(request.method, route.url));
    const { query, body } = read;
    request.query = watched(request.query, query);
    const parsed = request.body as { fault?: unknown; value?: object } | null | undefined;
    // An API body is stored next to its faults.
    if (parsed && 'fault' in parsed && parsed.value) parsed.value = watched(parsed.value, body);
    else {
      request.body = watched(request.body ?? {}, body, () => {
        read.whole = true;
      });
    }
  };
  const channel = tracingChannel('fastify.request.handler');
  channel.start.subscribe(start);
  return {
    of: ({ method, pattern }) => of(keyOf(method, pattern)),
    stop: () => channel.start.unsubscribe(start),
  };
}

/**
 * A route with an address at which it was found, and the fields of its form there, or `json` for an endpoint of the
 * API. `met` is false if the address is made up.
 */
export type Found = Route & {
  path: string;
  fields: Record<string, string>;
  met: boolean;
  json?: Record<string, unknown>;
};

const matcher = (pattern: string) =>
  new RegExp(`^${pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[a-z_]+/gi, '[^/]+')}$`);
/** How many pages of one route are opened: they differ little. */
const opened = 3;

/** Follows links and forms from the start pages; sends nothing. Makes up addresses for routes that nothing links to. */
export async function found(
  routes: Route[],
  starts: string[],
  origin: string,
  open: (path: string) => Promise<Visit>,
): Promise<Map<string, Found>> {
  const met = new Map<string, Found>();
  const count = new Map<string, number>();
  const waiting = [...starts];
  // A literal path takes precedence over one with a parameter.
  const known = routes
    .map((route) => ({ ...route, key: keyOf(route.method, route.pattern), matches: matcher(route.pattern) }))
    .sort((a, b) => Number(a.pattern.includes(':')) - Number(b.pattern.includes(':')));
  const note = (method: Method, address: string, fields: Record<string, string>) => {
    const url = new URL(address, origin);
    const route = url.origin === origin && known.find((one) => one.method === method && one.matches.test(url.pathname));
    if (!route) return false;
    const path = url.pathname + url.search;
    const before = met.get(route.key);
    if (!before || Object.keys(before.fields).length < Object.keys(fields).length) {
      met.set(route.key, { method, pattern: route.pattern, path, fields, met: true });
    }
    const seen = (count.get(route.key) ?? 0) + 1;
    count.set(route.key, seen);
    return method === 'GET' && seen <= opened;
  };
  const seen = new Set<string>();
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    note('POST', path, {});
    if (!note('GET', path, {})) continue;
    const page = await open(path);
    for (const { action, fields } of page.forms) note('POST', action || path, fields);
    const links = [...page.html.matchAll(/(?:href|src|action)="([^"#]+)"/g)].map(([, link = '']) => link);
    const said = [...page.html.matchAll(/https?:\/\/[^\s"<>&]+/g)].map(([link]) => link);
    for (const link of [...links, ...said]) {
      const url = URL.parse(link.replaceAll('&amp;', '&'), new URL(path, origin));
      if (url?.origin === origin) waiting.push(url.pathname + url.search);
    }
  }
  const places = [...met.values()];
  for (const { method, pattern, key } of known) {
    if (!met.has(key)) met.set(key, { method, pattern, path: besides(pattern, places), fields: {}, met: false });
  }
  return met;
}

/** An address for a route that nothing links to. Its ids come from a route with the same beginning, or are made up. */
function besides(pattern: string, places: Found[]): string {
  const parts = pattern.split('/');
  const filled = parts.map((part, index) => {
    if (!part.startsWith(':')) return part;
    const before = parts.slice(0, index + 1).join('/');
    const place = places.find((one) => one.pattern === before || one.pattern.startsWith(`${before}/`));
    return place?.path.split(/[/?]/)[index] ?? randomUUID();
  });
  return filled.join('/');
}
