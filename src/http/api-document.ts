import swagger from '@fastify/swagger';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import type { Context } from '../context.ts';
import { html, raw } from '../lib/text/html.ts';
import { islandPath } from '../web/assets.ts';
import { docsPath } from '../web/docs-path.ts';
import { iconPath } from '../web/icon.ts';
import { apiGuide } from './api-guide.ts';
import { describedHeaders } from './api-headers.ts';
import { completeDocument } from './api-schemas.ts';
import { referenceScript } from './reference-script.ts';

const proofVerified = {
  title: 'PaymentProofVerified',
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
    event: { type: 'string', const: 'payment.proof_verified', description: 'The kind of event.' },
    delivery_id: {
      type: 'string',
      format: 'uuid',
      description: 'The same in every delivery attempt; equal to x-service-delivery.',
    },
    request_id: { type: 'string', format: 'uuid', description: 'The request that was paid.' },
    account_id: { type: 'string', format: 'uuid', description: 'The merchant that was paid.' },
    proof_status: { type: 'string', const: 'verified', description: 'The same as in the request.' },
    tx_hash: {
      type: 'string',
      description: 'The transaction that paid or, if there were several, that completed the sum.',
    },
    payer_address: {
      type: 'string',
      description:
        'The sender of that payment: an EVM address in lower case. An exchange pays from its own; 0x and 40 zeros if the ' +
        'tokens were minted.',
    },
    metadata: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'The metadata of the request; {} if it has none.',
    },
    timestamp: {
      type: 'string',
      format: 'date-time',
      description: 'When the event was created: ISO 8601 in UTC with milliseconds. The same in every delivery attempt.',
    },
  },
};

const proofVerifiedExample = {
  event: 'payment.proof_verified',
  delivery_id: '7d0f4c52-4f0e-4b59-9a06-3f5d1c1f2a10',
  request_id: '9d3f6d2e-8a41-4f1c-a1c5-6f2f0f6f7b10',
  account_id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
  proof_status: 'verified',
  tx_hash: `0x${'5e'.repeat(32)}`,
  payer_address: `0x${'a1'.repeat(20)}`,
  metadata: { order: 'A-1042' },
  timestamp: '2026-01-31T09:31:12.000Z',
};

const webhookHeaders = [
  ['x-service-event', 'The name of the event.'],
  ['x-service-delivery', 'Equal to delivery_id in the body.'],
  ['x-service-signature', '`v1=<hex>,t=<unix time>`: HMAC-SHA256 over `<t>.<raw body>`.'],
  ['webhook-id', 'Equal to delivery_id in the body. This header and the next two are those of Standard Webhooks.'],
  ['webhook-timestamp', 'The same Unix time as in x-service-signature.'],
  [
    'webhook-signature',
    '`v1,<base64>`: HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<raw body>`, keyed by the bytes that the base64 ' +
      'after `whsec_` encodes. While a new secret is pending, two of them, separated by a space.',
  ],
].map(([name = '', description = '']) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const },
}));

/** No licence is granted, but linters of OpenAPI documents require this field. */
const license = { name: 'All rights reserved', identifier: 'LicenseRef-proprietary' };

/** Serves the OpenAPI document, generated from the contracts, and a reference page for trying requests. */
export async function apiDocument(app: FastifyInstance, ctx: Context): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Quittance', version: '1.0.0', description: apiGuide(ctx.config.baseUrl), license },
      servers: [{ url: ctx.config.baseUrl }],
      tags: [
        { name: 'Payment requests', description: 'Request payments from customers and follow their status.' },
        {
          name: 'Merchants',
          description:
            'Create the merchants who receive payments. They add their wallet and accept the terms themselves.',
        },
      ],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'qt_test_… or qt_live_…' } },
        headers: describedHeaders as never,
      },
      webhooks: {
        'payment.proof_verified': {
          post: {
            operationId: 'paymentProofVerified',
            summary: 'A payment was verified on the chain',
            security: [],
            parameters: webhookHeaders,
            requestBody: {
              required: true,
              content: { 'application/json': { schema: proofVerified as never, example: proofVerifiedExample } },
            },
            responses: { '2XX': { description: 'Received. Any other status, or none within 8 seconds, is retried.' } },
          },
        },
      },
    },
    hideUntagged: true,
    transformObject: (generated) =>
      completeDocument('openapiObject' in generated ? generated.openapiObject : generated.swaggerObject),
  });
  // Link checkers and monitors ask with HEAD.
  const read = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, config: { auth: 'public' }, handler });
  read('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  );
  read(docsPath, (_request, reply) => reply.redirect(`${docsPath}/`, 301));
  let page: string | undefined;
  read(`${docsPath}/`, async (_request, reply) => {
    page ??= referencePage(JSON.stringify(app.swagger()));
    return reply.type('text/html; charset=utf-8').send(page);
  });
  referenceScript(app, `${docsPath}/js/scalar.js`);
}

/** Hides the library maker's advertisement, and gives greys, hints and accents enough contrast with their ground. */
const style = `
.darklight-reference a { display: none }
.light-mode { --scalar-color-2: #4d4d4d; --scalar-color-3: #5f5f5f; --scalar-color-accent: #0a5fb0;
  --scalar-color-green: #04643f; --scalar-color-red: #b80005; --scalar-color-orange: #9a3a00;
  --scalar-color-blue: #005a94; --scalar-color-yellow: #6b5300; --scalar-color-query: #00595e }
.dark-mode { --scalar-color-2: #c2c2c2; --scalar-color-3: #a8a8a8; --scalar-color-red: #ff7a78;
  --scalar-color-purple: #c5adff }
.light-mode ::placeholder, .dark-mode ::placeholder { color: var(--scalar-color-3); opacity: 1 }
`;

/** The page contacts and advertises nothing of the library's maker, and shows the field for the key at once. */
const settings = JSON.stringify({
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  customCss: style,
  authentication: { preferredSecurityScheme: 'apiKey' },
});

/** The reference page. The document is embedded as data, so no script runs but the library's file and ours. */
function referencePage(document: string): string {
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Quittance API</title>
        <link rel="icon" href="${iconPath}" type="image/svg+xml">
      </head>
      <body>
        <noscript>
          <p>
            The API reference needs JavaScript. Without it, the same content is in the${' '}
            <a href="/openapi.json">OpenAPI document</a>.
          </p>
        </noscript>
        <script id="api-reference" type="application/json" data-configuration="${settings}">${raw(
          document.replaceAll('<', '\\u003c'),
        )}</script>
        <script src="js/scalar.js"></script>
        <script type="module" src="${islandPath('reference')}"></script>
      </body>
    </html>
  `.text;
}
