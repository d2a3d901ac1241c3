import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../errors.ts';
import { areStorable } from '../../lib/text/storable.ts';

/** Bytes. More than a logo may have, so that the form itself can report one that is too large. */
const maxBytes = 2 * 1024 * 1024;
/** Bytes. Room for the largest logo and a few fields; a larger body is never parsed. */
const maxParsedBytes = 100 * 1024;
const maxBoundaries = 20;

/** The fields of a form with files: the bytes of a file, the text of any other field. */
export type MultipartFields = Record<string, string | Buffer>;

/**
 * Lets the routes of a scope accept forms with files. Of somebody who is not signed in no body is received, because
 * anybody could make the process hold many. Parsing is expensive, so the body stays raw until `multipartFields` is
 * called.
 */
export function takeMultipart(app: FastifyInstance, isSignedIn: (request: FastifyRequest) => Promise<boolean>): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (await isSignedIn(request)) return payload;
    // Fastify compares the length of what it reads with the header.
    return Object.assign(Readable.from([]), { receivedEncodedLength: Number(request.headers['content-length'] ?? 0) });
  });
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}

/**
 * Reads the fields of a form with files. A body that is not a form, or has more parts than any of ours, has none.
 *
 * @returns `too_large` for a body that is larger than any of our forms; it is not parsed
 * @throws Refusal malformed_text
 */
export async function multipartFields({ body, headers }: FastifyRequest): Promise<MultipartFields | 'too_large'> {
  if (!Buffer.isBuffer(body)) return (body ?? {}) as MultipartFields;
  if (body.length > maxParsedBytes) return 'too_large';
  const contentType = headers['content-type'] ?? '';
  if (!hasFewParts(body, contentType)) return {};
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => null);
  const entries = await Promise.all(
    [...(form ?? [])].map(
      async ([name, value]): Promise<[string, string | Buffer]> => [
        name,
        typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()),
      ],
    ),
  );
  const texts = entries.filter(([, value]) => typeof value === 'string');
  if (!areStorable(Object.fromEntries(texts))) throw refuse('malformed_text');
  return Object.fromEntries(entries);
}

function hasFewParts(body: Buffer, contentType: string): boolean {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType.slice(0, 200)) ?? [];
  const boundary = `--${quoted ?? plain ?? ''}`;
  let count = 0;
  for (let at = body.indexOf(boundary); at >= 0; at = body.indexOf(boundary, at + boundary.length)) {
    if (++count > maxBoundaries) return false;
  }
  return true;
}
