import type { FastifyInstance } from 'fastify';

/** Room for a picture that is too large, so that the form can say so itself. */
const maxBytes = 2 * 1024 * 1024;

/** Lets the routes of a scope take forms with files: a file becomes its bytes, any other field its text. */
export function readMultipart(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (request: { headers: { 'content-type'?: string } }, body: Buffer) => {
      const form = await new Response(new Uint8Array(body), {
        headers: { 'content-type': request.headers['content-type'] ?? '' },
      })
        .formData()
        .catch(() => null);
      // A body that is no form is one in which nothing was said.
      const fields = await Promise.all(
        [...(form ?? [])].map(async ([name, value]) => [
          name,
          typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer()),
        ]),
      );
      return Object.fromEntries(fields);
    },
  );
}
