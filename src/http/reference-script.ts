import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Encoded, encode, encodingFor } from '../lib/text/encodings.ts';

type Script = { encoded: Encoded; etag: string };

/** One library in a process, so one script. */
let script: Promise<Script> | undefined;

async function compress(text: string): Promise<Script> {
  const identity = Buffer.from(text);
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { encoded: await encode(identity), etag };
}

/**
 * Sends the library's script, over 4 MB as the library serves it, compressed, once per process and off the event loop.
 * Browsers cache it and revalidate. Call this before the library's routes are added.
 */
export function compressReferenceScript(app: FastifyInstance, path: string): void {
  const onSend = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
    script ??= compress(payload);
    const { encoded, etag } = await script;
    const encoding = encodingFor(request.headers['accept-encoding']);
    const tag = `"${etag}-${encoding}"`;
    reply.headers({ 'cache-control': 'public, no-cache', etag: tag, vary: 'accept-encoding' });
    if (request.headers['if-none-match']?.includes(tag)) {
      reply.code(304);
      return '';
    }
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return encoded[encoding];
  };
  app.addHook('onRoute', (route) => {
    if (route.url === path) route.onSend = onSend;
  });
}
