import { createHash } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import { type Encoded, encode, encodingFor } from '../lib/text/encodings.ts';

type Script = { encoded: Encoded; etag: string };

/** Shared by all servers of the process. */
let script: Promise<Script> | undefined;

/** The library contains its script as code, which takes 20 MB of memory. So it is loaded at the first request. */
async function loadScript(): Promise<Script> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const library = fastify();
  await library.register(scalar, { configuration: { url: '/openapi.json' } });
  const { rawPayload: identity } = await library.inject('/reference/js/scalar.js');
  await library.close();
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { encoded: await encode(identity), etag };
}

/**
 * Serves the library's script. It has more than 4 MB, so it is compressed once per process, off the event loop.
 * Browsers revalidate it by its ETag.
 */
export function referenceScript(app: FastifyInstance, path: string): void {
  app.get(path, { config: { auth: 'public' } }, async (request, reply) => {
    script ??= loadScript();
    const { encoded, etag } = await script;
    const encoding = encodingFor(request.headers['accept-encoding']);
    const tag = `"${etag}-${encoding}"`;
    reply.headers({ 'cache-control': 'public, no-cache', etag: tag, vary: 'accept-encoding' });
    if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send('');
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type('application/javascript; charset=utf-8').send(encoded[encoding]);
  });
}
