import type { ErrorCode } from '../errors.ts';

type Header = { description: string; required: true; schema: Record<string, unknown> };

/** Headers that every response has, with one value for all: nothing is cached, and its type is not guessed. */
export const fixedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Headers that an error has beside them. That of `method_not_allowed` is `allow`, which depends on the address. */
export const errorHeaders: Partial<Record<ErrorCode, Record<string, string>>> = {
  unauthorized: { 'www-authenticate': 'Bearer' },
  // Nothing more is read from the connection: neither the rest of the body, nor what follows a call for two hosts.
  body_too_large: { connection: 'close' },
  malformed_http: { connection: 'close' },
};

const fixed = (name: keyof typeof fixedHeaders, description: string): Header => ({
  description,
  required: true,
  schema: { type: 'string', const: fixedHeaders[name] },
});

/**
 * What the OpenAPI document says about the headers of responses. Those of the connection (`connection`,
 * `strict-transport-security`, `date`) and of the body (`content-type`, `content-length`) are HTTP's own.
 */
export const describedHeaders = {
  'x-request-id': {
    description: 'Identifies this call, and is the ID of what it created. Tell it to us when you report a problem.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'cache-control': fixed('cache-control', 'Responses must not be cached.'),
  'x-content-type-options': fixed('x-content-type-options', 'For browsers: the body is what its type says.'),
  'www-authenticate': {
    description: 'How to authenticate: with an API key as bearer token.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
} satisfies Record<string, Header>;

type Name = keyof typeof describedHeaders;

const ofEveryResponse: Name[] = ['x-request-id', 'cache-control', 'x-content-type-options'];
const ofStatus: Record<string, Name[]> = { '401': ['www-authenticate'] };

/** The headers of a response, by its status, as references. */
export function headersOf(status: string): Record<string, { $ref: string }> {
  const names = [...ofEveryResponse, ...(ofStatus[status] ?? [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
