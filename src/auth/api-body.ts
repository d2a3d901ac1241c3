import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type JsonFault, readStrictJson } from '../lib/text/strict-json.ts';

/** The maximum size of a body. */
const maxBodyBytes = 128 * 1024;

/** A received body, not yet parsed. A large one is parsed only after its key was found (see `api-route.ts`). */
export type UnreadBody =
  | { bytes: Buffer; contentType: string | undefined; contentEncoding: string | undefined }
  | 'body_too_large';

/** The result of parsing a body. A fault is reported only after the key was checked and the call counted. */
export type ApiBody =
  | { fault: 'body_too_large' | 'unsupported_media_type' | 'invalid_json'; message?: string }
  | { fault: null; value: Record<string, unknown>; keyOrder: Map<string, string[]> };

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
/** The right type, but with other parameters. */
const otherParameters = /^application\/json\s*;/i;

/**
 * Receives bodies for the API's endpoints. It parses nothing and refuses nothing, so the endpoint decides the order of
 * checks.
 */
export function readApiBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Fastify would refuse a malformed Content-Type before any hook of ours could check the key.
  app.addHook('onRequest', async (request) => {
    request.contentType = request.headers['content-type'];
    if (request.contentType !== undefined) request.raw.headers['content-type'] = 'application/octet-stream';
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of payload as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return 'body_too_large' satisfies UnreadBody;
      chunks.push(chunk);
    }
    const { contentType, headers } = request;
    const contentEncoding = headers['content-encoding'];
    return { bytes: Buffer.concat(chunks), contentType, contentEncoding } satisfies UnreadBody;
  });
}

const jsonFaults: Record<JsonFault, string> = {
  empty: 'The body is empty; send one JSON object.',
  byte_order_mark: 'The body begins with a byte order mark; send it without one.',
  no_utf8: 'The body is not valid UTF-8; send it in that encoding, and not compressed.',
  no_json: 'The body is not valid JSON; check its quotes, commas and brackets.',
  no_object: 'The body must be one JSON object, not an array or a single value.',
  too_deep: 'The body has more than 32 levels of objects and arrays; send fewer.',
  not_storable:
    'A text in the body contains NUL or a lone surrogate, such as half of an emoji that was cut; remove it.',
  proto_key: 'The body has a key __proto__, which is not accepted; use another.',
  duplicate_key: 'An object in the body has a key twice; send each key once.',
};

/** For bytes that are not JSON because the client compressed them; some do so by default. */
const compressedText = 'The body is compressed, as its header Content-Encoding says; send it without compression.';

/** Not every value: some clients put a character set into `Content-Encoding`, and compress nothing. */
const compressions = /^\s*(x-)?(gzip|deflate|compress|br|zstd)\b/i;

function mediaTypeFault(contentType: string | undefined): string | undefined {
  if (!contentType) return 'The header Content-Type is missing; send Content-Type: application/json.';
  return otherParameters.test(contentType)
    ? 'Content-Type: application/json may have no parameter but charset=utf-8; leave out the others.'
    : undefined;
}

/** Parses a body. 128 KiB can block the event loop for 25 ms, so large bodies are parsed only for existing keys. */
export function judgeBody(unread: UnreadBody | undefined): ApiBody {
  if (unread === 'body_too_large') return { fault: unread };
  if (unread === undefined) return { fault: 'invalid_json', message: jsonFaults.empty };
  const { bytes, contentType, contentEncoding } = unread;
  if (bytes.length > 0 && !jsonType.test(contentType ?? ''))
    return { fault: 'unsupported_media_type', message: mediaTypeFault(contentType) };
  const parsed = readStrictJson(bytes);
  if (typeof parsed === 'string') {
    const isCompressed = (parsed === 'no_utf8' || parsed === 'no_json') && compressions.test(contentEncoding ?? '');
    return { fault: 'invalid_json', message: isCompressed ? compressedText : jsonFaults[parsed] };
  }
  // An optional field given as null counts as absent.
  for (const [name, value] of Object.entries(parsed.value)) if (value === null) delete parsed.value[name];
  return { fault: null, ...parsed };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The Content-Type as the client sent it. */
    contentType: string | undefined;
  }
}
