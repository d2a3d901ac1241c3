import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuse } from '../../errors.ts';
import { areStorable } from '../../lib/text/storable.ts';

/** Room for a picture that is too large, so that the form can say so itself. */
const maxBytes = 2 * 1024 * 1024;
/** A picture of the largest size and a few fields; more than that is never parsed. */
const maxParsedBytes = 100 * 1024;
const maxBoundaries = 20;

/** What a form with files says: of a file its bytes, of any other field its text. */
export type MultipartFields = Record<string, string | Buffer>;

/**
 * Lets the routes of a scope accept forms with files. Parsing is expensive, so the body stays raw until the sender is
 * known and `multipartFields` is called.
 */
export function takeMultipart(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}

/**
 * The fields of a form with files. A body that is not a form, or has more parts than any of ours, has none.
 *
 * @returns `too_large` for more than any form of ours may contain; it is not parsed
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
