import swagger from '@fastify/swagger';
import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { html, raw } from '../lib/text/html.ts';
import { compressReferenceScript } from './reference-script.ts';

/** Where the reference page lives. */
export const docsPath = '/docs';

const description = `Quittance lets merchants get paid in stablecoins, straight to their own wallet.

**Keys.** \`Authorization: Bearer qt_test_…\` accesses only sandbox data, \`qt_live_…\` only real data.

**Limits.** Each endpoint counts calls per key and calendar minute. After a 429 wait 60 seconds, then back off
exponentially with about 10 seconds of jitter. Follow new requests by polling the list with \`since\`, not each request.

**Webhook.** \`payment.proof_verified\` is sent once a payment is verified on the chain. Its \`x-service-signature\` is
\`v1=<hex>,t=<unix time>\`: HMAC-SHA256 over \`<t>.<raw body>\` with your signing secret as the key. Allow 300 seconds of
clock difference, and answer 2xx within 8 seconds. The same delivery carries the headers of the Standard Webhooks
specification, so its libraries can verify it unchanged.`;

const proofVerified = {
  type: 'object',
  required: [
    'event',
    'delivery_id',
    'request_id',
    'account_id',
    'proof_status',
    'tx_hash',
    'payer_address',
    'metadata',
    'timestamp',
  ],
  properties: {
    event: { const: 'payment.proof_verified' },
    delivery_id: { type: 'string', description: 'The same in all retries and replays; equal to x-service-delivery.' },
    request_id: { type: 'string' },
    account_id: { type: 'string' },
    proof_status: { const: 'verified' },
    tx_hash: { type: 'string' },
    payer_address: { type: 'string', description: 'EVM address' },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    timestamp: { type: 'string' },
  },
};

/** Serves the OpenAPI document, generated from the contracts, and a reference page for trying requests. */
export async function apiDocument(app: FastifyInstance, ctx: Context): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Quittance', version: '1.0.0', description },
      servers: [{ url: ctx.config.baseUrl }],
      tags: [{ name: 'Payment requests' }, { name: 'Merchants' }],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'qt_test_… or qt_live_…' } },
      },
      webhooks: {
        'payment.proof_verified': {
          post: {
            summary: 'A payment was verified on the chain',
            requestBody: { content: { 'application/json': { schema: proofVerified as never } } },
            responses: { '2XX': { description: 'Received. Any other status, or none within 8 seconds, is retried.' } },
          },
        },
      },
    },
    hideUntagged: true,
  });
  app.get('/openapi.json', { config: { auth: 'public' } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  );
  compressReferenceScript(app, `${docsPath}/js/scalar.js`);
  let page: string | undefined;
  await app.register(scalar, {
    routePrefix: docsPath,
    configuration: { url: '/openapi.json' },
    hooks: {
      // The library's own page holds script; this one names it only.
      preHandler: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.routeOptions.url !== `${docsPath}/`) return;
        page ??= referencePage(JSON.stringify(app.swagger()));
        return reply.type('text/html; charset=utf-8').send(page);
      },
    },
  });
}

/** Nothing is loaded from, sent to, or advertised for the library's maker; the field for the key is visible at once. */
const settings = JSON.stringify({
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  authentication: { preferredSecurityScheme: 'apiKey' },
});

/** The reference page. Its content is embedded as data, so the only script that runs is the library's file. */
function referencePage(document: string): string {
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Quittance API</title>
      </head>
      <body>
        <script id="api-reference" type="application/json" data-configuration="${settings}">${raw(
          document.replaceAll('<', '\\u003c'),
        )}</script>
        <script src="js/scalar.js"></script>
      </body>
    </html>
  `.text;
}
