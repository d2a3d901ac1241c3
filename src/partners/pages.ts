import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { isSlug } from './rules.ts';
import { selectLogo } from './store.ts';

/** `GET /logo/:slug`: a partner's logo. Browsers cache it forever, because its address contains its hash. */
export function logoRoute(app: FastifyInstance, ctx: Context): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/logo/:slug',
    exposeHeadRoute: false,
    config: { auth: 'public' },
    handler: async (request: FastifyRequest<{ Params: { slug: string }; Querystring: { v?: string } }>, reply) => {
      const { slug } = request.params;
      const logo = isSlug(slug) ? await selectLogo(ctx.db, slug) : null;
      if (!logo) return reply.callNotFound();
      const isNamed = request.query.v === logo.hash;
      return reply
        .headers({
          'content-type': logo.type,
          'cache-control': isNamed ? 'public, max-age=31536000, immutable' : 'no-cache',
          'content-security-policy': "default-src 'none'; sandbox",
          'cross-origin-resource-policy': 'cross-origin', // mails show it
          'x-content-type-options': 'nosniff',
        })
        .send(logo.bytes);
    },
  });
}
