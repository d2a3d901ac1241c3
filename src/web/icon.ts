import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

const read = (name: string) => readFileSync(new URL(`../ui/${name}`, import.meta.url));
const [drawing, picture] = [read('icon.svg'), read('icon.png')];
const version = createHash('sha256').update(drawing).digest('hex').slice(0, 10);

/** Address of the icon in the browser's tab. */
export const iconPath = `/assets/icon-${version}.svg`;

/**
 * The icon in the browser's tab: as SVG at an address that changes with its content, and as a bitmap at the address
 * that browsers request by themselves, for those that do not support SVG icons.
 */
export function iconRoutes(app: FastifyInstance): void {
  const route = (url: string, type: string, file: Buffer, kept: string) =>
    app.route({
      method: 'GET',
      url,
      config: { auth: 'public' },
      handler: async (_, reply) =>
        reply.headers({ 'content-type': type, 'cache-control': `public, ${kept}` }).send(file),
    });
  route(iconPath, 'image/svg+xml', drawing, 'max-age=31536000, immutable');
  route('/favicon.ico', 'image/png', picture, 'max-age=86400');
}
