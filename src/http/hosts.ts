import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hostName, hostOwner, type OwnHost } from '../auth/host.ts';
import { scopeOfPlan, scopeOfRequest } from '../auth/scope.ts';
import { payRoute, planRoute } from '../checkout/paths.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { isUuid } from '../lib/ids.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { readPartner } from '../partners/read.ts';
import { sendSlowDown } from '../web/slow-down.ts';
import { hasPathPrefix } from './path-prefix.ts';

/** Answered on any host, because probes may call a node by any name. */
const everywhere = ['/healthz', '/readyz', '/metrics'];
/** Pages of operators and developers. */
const sharedOnly = ['/admin', '/dev'];
/** What a customer's page loads. */
const parts = ['/assets', '/logo', '/favicon.ico'];

/**
 * How many slugs, and ids of requests and plans, are cached with their partner, which never changes. Unknown ones are
 * not cached.
 */
const maxKept = 10_000;

const lookupWindowMs = 10_000;

/**
 * Answers 404 to pages that the requested host does not serve, and sets `request.ownHost`. A partner's own host serves
 * only that partner's pages, and the shared host serves all. The API's gate checks hosts itself, after the key.
 */
export function guardHosts(app: FastifyInstance, ctx: Context): void {
  /** The pages for customers, each with the parameter that leads to its partner. */
  const customerPages = [
    { route: payRoute(ctx.config), id: 'request_id', find: scopeOfRequest },
    { route: planRoute(ctx.config), id: 'plan_id', find: scopeOfPlan },
  ];
  const payHost = hostName(new URL(ctx.config.payUrl).host);

  const partners = new Map<string, OwnHost>();
  const owners = new Map<string, string>();
  // Each unknown slug or id costs a query, so they are limited here, whatever limit the requested page has.
  const slugLookups = new AttemptLimit(ctx.config.pageLimit, lookupWindowMs);
  const idLookups = new AttemptLimit(ctx.config.pageLimit, lookupWindowMs);
  const partnerOf = async (slug: string): Promise<OwnHost | null> => {
    const known = partners.get(slug);
    if (known) return known;
    const partner = await readPartner(ctx.db, slug);
    const found = partner && { partnerId: partner.id, slug: partner.slug };
    if (found) keepNewest(partners, slug, found, maxKept);
    return found;
  };

  const ownerOf = async (id: string, find: typeof scopeOfRequest): Promise<string | null> => {
    const known = owners.get(id);
    if (known !== undefined || !isUuid(id)) return known ?? null;
    const scope = await find(ctx.db, id);
    if (scope) keepNewest(owners, id, scope.partnerId, maxKept);
    return scope?.partnerId ?? null;
  };

  app.decorateRequest('ownHost', null);
  app.addHook('onRequest', async (request, reply) => {
    const { url, config } = request.routeOptions;
    if (url === undefined || config.auth === 'api-key' || everywhere.includes(url)) return;
    const customerPage = customerPages.find(({ route }) => url.startsWith(route));
    // Customers' pages may have a host of their own, which serves nothing else.
    if (hostName(request.headers.host) === payHost && (customerPage || hasPathPrefix(url, parts))) return;

    const owner = hostOwner(ctx.config, request.headers.host);
    if (owner === null) return;
    const isNowhere = owner === undefined || hasPathPrefix(url, sharedOnly);
    const isNew = !isNowhere && !partners.has(owner);
    if (isNew && !slugLookups.take(clientSubject(request.ip), ctx.clock.now())) return sendSlowDown(reply);
    const partner = isNowhere ? null : await partnerOf(owner);
    if (!partner) throw refuse('not_found');
    request.ownHost = partner;
    if (customerPage) {
      const id = paramOf(request, customerPage.id)?.toLowerCase() ?? '';
      if (!owners.has(id) && !idLookups.take(clientSubject(request.ip), ctx.clock.now())) return sendSlowDown(reply);
      if ((await ownerOf(id, customerPage.find)) !== partner.partnerId) throw refuse('not_found');
    }
    if (hasPathPrefix(url, ['/logo']) && paramOf(request, 'slug') !== partner.slug) throw refuse('not_found');
  });
}

const paramOf = ({ params }: FastifyRequest, name: string) => (params as Record<string, string | undefined>)[name];
