import { type ErrorCode, errors } from '../errors.ts';
import { currencyCodes, currencyExponent } from '../lib/money.ts';
import { createSnippet, receiverSnippet, type SnippetLanguage, snippetLanguages } from '../portal/overview/snippets.ts';
import { syncSnippet } from '../portal/overview/sync-snippet.ts';
import { browserList, oldestForCustomers, oldestForUsers } from '../web/browsers.ts';

const names: Record<SnippetLanguage, [heading: string, fence: string]> = {
  curl: ['curl and a shell', 'sh'],
  typescript: ['TypeScript', 'ts'],
  python: ['Python', 'python'],
  php: ['PHP', 'php'],
};

const inAllLanguages = (snippet: (language: SnippetLanguage) => string): string =>
  snippetLanguages
    .map((language) => {
      const [heading, fence] = names[language];
      return `## ${heading}\n\n\`\`\`${fence}\n${snippet(language)}\n\`\`\``;
    })
    .join('\n\n');

/** What an API client can do about each error, in the order of their statuses. Only pages answer `malformed_text`. */
const advice: Record<Exclude<ErrorCode, 'malformed_text'>, string> = {
  malformed_http: 'Send the call with an HTTP library.',
  invalid_json: 'Send one complete JSON object as the body.',
  invalid_request: 'Read `details`: it lists every invalid field with a message.',
  invalid_idempotency_key: 'Use a key of 32 to 64 of the characters A-Z, a-z, 0-9, - and _.',
  customer_name_required: 'Send `customer_name`.',
  currency_mismatch:
    'Give the amount in `expected_fiat_code`. Do not just change the code: 1250 is 12.50 euros, but 1,250 yen.',
  expiry_not_allowed: 'Use one of the response’s `allowed_expiry_minutes`.',
  merchant_disabled: 'Ask the operator, or enable the merchant in the portal.',
  merchant_mode_mismatch: 'Use a key for the merchant’s mode.',
  merchant_onboarding_incomplete:
    'Send the merchant to its `onboarding_url`; if that is null, `message` says what to do.',
  unauthorized: 'Send a valid key; `message` says what is wrong with the header.',
  insufficient_scope: 'Use a key with the `required_scope`.',
  partner_disabled: 'Ask the operator.',
  not_found: 'Check the ID. IDs of other partners and of the other mode are not found either.',
  method_not_allowed: 'Use a method listed in the `Allow` header.',
  request_timeout: 'A call has 30 seconds to arrive. Retry with the same `idempotency_key`.',
  cannot_cancel: 'Read `request` in the response.',
  wallet_address_conflict: 'Use another wallet: a wallet belongs to one merchant only.',
  body_too_large: 'Shorten `memo` and `metadata`.',
  unsupported_media_type: 'Send `Content-Type: application/json`, with no parameter or with `charset=utf-8`.',
  rate_limited: 'Wait 60 seconds, then back off.',
  headers_too_large: 'Shorten the URL and the headers: together they may have 16 KiB.',
  internal_error: 'Retry with the same `idempotency_key`; tell us the `x-request-id`.',
  rate_unavailable: 'Retry in a minute.',
  unavailable: 'Retry with the same `idempotency_key`.',
};

const errorRows = Object.entries(advice)
  .map(([code, what]) => `| ${errors[code as ErrorCode][0]} | \`${code}\` | ${what} |`)
  .join('\n');

const withExponent = (exponent: number): string =>
  currencyCodes.filter((code) => currencyExponent(code) === exponent).join(', ');

/** The introduction of the API's reference, as Markdown. */
export function apiGuide(baseUrl: string): string {
  const values = { baseUrl, key: 'qt_test_...', accountId: '<account_id>' };
  return `A payment request asks a customer for an amount in the merchant’s own currency. The customer opens
\`pay_page_url\` and pays in stablecoins, straight to the merchant’s wallet. Once the payment is verified on the chain, you
receive one signed event.

# Authentication

Send your key with every call: \`Authorization: Bearer qt_test_…\`. Create keys in the portal under **Keys**; a key is
shown once. A \`qt_test_\` key reaches test data only, and a \`qt_live_\` key reaches live data only. Scopes limit what a key may
do: \`requests:write\`, \`requests:read\`, \`accounts:write\`, \`accounts:read\`.

Call the API from your server. A key in a web page or an app can be read by everybody who has it, and browsers do not let pages
of other sites call the API (there is no CORS).

To replace a key, create another, switch your program over, then revoke the old one. Keys of one mode see the same data, and a
retry with another key finds the same \`idempotency_key\`.

# Your first event, step by step

1. Create a test key in the portal: [Getting started](${baseUrl}/portal/start) fills it into the code examples.
2. Create a merchant, under **Merchants** or with \`POST /api/v1/accounts\`. Send it its \`onboarding_url\`, which is
   valid for seven days; reading the merchant returns a fresh one. Once its \`onboarding_status\` is \`complete\`, use its
   \`account_id\`.
3. Create a request, as shown below, and open its \`pay_page_url\`.
4. Start one of the receivers under **Webhooks** below, set its URL in the portal under **Webhooks**, and give the signing
   secret that you see there once to the receiver.
5. Pay. If the service has a test wallet, **Webhooks** in the portal has the button **Pay a test request**, which also makes a
   merchant if you have none. Otherwise open the pay page and pay with a wallet that holds test USDC.
6. The event arrives within seconds of the final payment. If it does not, the page of the event, under **Webhooks**, shows
   what was sent and what your server answered.

# Going live

Test and live mode are separate: each has its own keys, merchants, requests, webhook URL and signing secret.

1. Create a live key.
2. Create your merchants again with it. Each finishes onboarding with a wallet that no merchant uses in test mode: a wallet
   belongs to one merchant only, in one mode. Use other wallets for your tests.
3. Set a webhook URL that begins with https:// and give its signing secret to your receiver.

# Create a payment request

${inAllLanguages((language) => createSnippet(language, values))}

# Idempotency

Send an \`idempotency_key\` of 32 to 64 of the characters A-Z, a-z, 0-9, - and _ (so a UUID will do) in the body of every
create, and send the same key when you retry. It is a field: a header \`Idempotency-Key\` is not read, and neither are fields
that this document does not name. A key does not expire.
The same key for the same merchant returns the request it created, in its current state, with \`idempotent_replay: true\`.
The other fields of a repeated call are ignored. So take a new key to request an order's money again, for instance after its
first request expired.
Creating a merchant is idempotent by \`wallet_address\` alone. Without one, a repeated call creates another merchant: if a
response was lost, look for yours in \`GET /api/v1/accounts\` first.

# Currencies

All requests of a merchant are in its \`display_currency\`: the one that you gave it or, without one, yours (in the portal under
**Settings**). Merchants can change it in their dashboard. So send the currency of your amount as \`fiat_currency_code\`: if the
merchant's is another one by then, the call is refused, and nobody is asked for 1,250 yen in place of 12.50 euros.

Every currency with an exchange rate can be used. The portal lists them under **Merchants**, where you create one;
\`POST /api/v1/accounts\` with any other answers 400 and lists them too.

\`fiat_amount_int\` counts the minor units that ISO 4217 gives the currency.

- No decimals, so 1250 means 1,250: ${withExponent(0)}.
- Three, so 1250 means 1.250: ${withExponent(3)}.
- Four, so 1250 means 0.1250: ${withExponent(4)}.
- Two, so 1250 means 12.50: all others, also COP, HUF, IDR and PKR, which JavaScript's \`Intl\` shows without decimals.

\`amount.usdc_micro\` is what the customer pays, in millionths of a US dollar. It is computed when the request is created, rounded
up, and never changes. It can be up to 0.009999 dollars more than for another request of the same amount, so that their payments
can be told apart. So take it from the response; do not compute it.

# States

| \`status\` | meaning |
| --- | --- |
| \`requested\` | Created; the pay page has not been opened. It can be cancelled only in this state. |
| \`opened\` | A customer has opened the pay page. Link previews in chats do not count. |
| \`expired\` | \`expires_at\` has passed without payment. A payment up to 30 minutes late still counts. |
| \`voided\` | Cancelled. |

| \`proof_status\` | meaning |
| --- | --- |
| \`none\` | The request has not been fully paid. |
| \`attached\` | It is fully paid on the chain, but the payment is not final yet. |
| \`verified\` | The payment is final. It never changes again. |

Hand over the goods when \`proof_status\` is \`verified\`, whatever \`status\` says.

# Plans, other amounts and refunds

- **Plans.** Merchants create recurring plans in their dashboard; the API has no endpoint for them. Each charge is a request
  like any other, with the plan’s metadata: expect requests in the list, and events, that your program did not create. A failed
  charge sends no event.
- **Too little was paid.** \`proof_status\` stays \`none\`, and the pay page asks for the rest. The event is sent once the sum
  suffices; \`tx_hash\` is the payment that completed it. If the request expires or is cancelled first, the merchant can refund
  what arrived.
- **Too much was paid.** The request is \`verified\`. The merchant sees the excess and can refund it.
- **Paid more than 30 minutes late, twice, or after a cancellation.** The request does not change and no event is sent. The
  portal lists the payment under **Unmatched payments**, and the merchant refunds it or, where the request is not paid yet,
  attaches it.
- **Paid with another token, or on a network that the pay page does not offer.** The request does not change and no event is
  sent. Given the hash of the transaction, the pay page says what was found.
- **Programs that pay.** A pay link that is requested with \`Accept: application/json\` answers in the x402 protocol, so an agent
  can pay it without a browser. For you it is a request like any other.
- **Refunds.** The merchant refunds from its own wallet, in its dashboard. The request stays \`verified\`, and no event is sent;
  the portal and its CSV files show the refund.

# Paging

Lists are sorted by \`created_at\`, oldest first. \`limit\` is 1 to 100 (50 by default), and \`has_more\` says whether another page
follows: it begins at \`offset\` + \`limit\`. Parameters that this document does not name, such as \`page\`, are ignored.

- **New requests.** Pass the last \`created_at\` that you saw as \`since\`: it is inclusive, so skip IDs that you know, and use a
  \`limit\` of 2 or more. No request is missed, however many are created meanwhile.
- **Payments.** A request that is paid later keeps its \`created_at\`, so the loop above does not return it again. Webhooks tell
  you. Without them, also read the list with \`proof_status=verified\`, since the \`created_at\` of the oldest request that you
  still wait for, page by page. Wait until at least an hour after \`expires_at\`, because a payment up to 30 minutes late counts
  and then has to become final. A merchant can attach an even later payment at any time; only the webhook tells you about it.
- **Filters whose matches change.** If a row stops matching while you page with \`offset\`, such as a merchant that completes
  onboarding under \`onboarding_status=incomplete\`, the rows behind it move up and the next page skips one. Page through all
  merchants and filter them yourself; page through requests with \`since\`.

\`\`\`python
${syncSnippet(values)}
\`\`\`

# Limits

Each endpoint counts the calls of each key in each calendar minute: 60, and 30 for creating merchants. There are no rate-limit
headers. After a 429, wait 60 seconds, then back off exponentially with about 10 seconds of jitter. Follow requests with
webhooks or with the list, not by reading each one.

A call that has arrived is answered within 10 seconds, if need be with 503 \`unavailable\`. So wait for 15 seconds before you
give up. Then retry: with the same \`idempotency_key\`, nothing is created twice.

A body has at most 128 KiB, and is not compressed. Lengths of texts are counted in Unicode code points. An optional field that is
\`null\` counts as left out. A webhook’s URL and secret can be changed ten times a minute, both modes together.

# Browsers

Your customers and merchants need one of these browsers, or a newer version. On an iPhone, every browser is Safari in the
version of iOS. Wallet apps show pages as Safari does on iPhones, and as Chrome does on Android.

| pages | browsers |
| --- | --- |
| pay pages, plans, receipts, onboarding | ${browserList(oldestForCustomers)} |
| portal and dashboard | ${browserList(oldestForUsers)} |

Pay pages also work without JavaScript: customers then pay manually.

# Errors

Every error is JSON: \`ok\` is false, \`error\` is a code for your program, \`message\` a sentence for people. Codes never change
their meaning. Every response has an \`x-request-id\`. What a call creates has the same ID: keep it, and you can follow a
request from your log to its event.

| status | error | what to do |
| --- | --- | --- |
${errorRows}

# Versions

The version is in the path, \`/api/v1\`, and it changes only by addition: endpoints, optional parameters and fields of bodies,
fields of responses and events, error codes and kinds of events. So ignore fields that you do not know, go by the status
where you do not know an \`error\`, and answer 2xx to an \`event\` that you do not know. An endpoint that will be removed
carries the headers \`Deprecation\` and \`Sunset\` for at least twelve months before.

# Webhooks

When a payment is verified, \`payment.proof_verified\` is sent to your URL: at least once, in no guaranteed order, and always
with the same body and \`delivery_id\`. Ignore a \`delivery_id\` that you have processed. Answer 2xx within 8 seconds; anything
else is retried for about 76 hours: after 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each ±20 %.
Nothing is sent about an expired, cancelled or failed request.

Redirects are not followed. \`Retry-After\` makes a wait up to twice as long. After ten failures in a row, only one event at a
time is sent, until one succeeds. If your endpoint answers 410, or nothing succeeds
for 120 hours, it is disabled: events wait until you enable it in the portal under **Webhooks**. There you also see why an
attempt failed, and can resend events.

\`\`\`http
POST /events HTTP/1.1
content-type: application/json
x-service-event: payment.proof_verified
x-service-delivery: 7d0f4c52-4f0e-4b59-9a06-3f5d1c1f2a10
x-service-signature: v1=<64 hex digits>,t=1769852400

{"event":"payment.proof_verified","delivery_id":"7d0f4c52-4f0e-4b59-9a06-3f5d1c1f2a10","request_id":"9d3f6d2e-8a41-4f1c-a1c5-6f2f0f6f7b10", …}
\`\`\`

\`v1\` is HMAC-SHA256 over \`<t>.<raw body>\`, keyed by the complete signing secret (\`whsec_…\`). Compare in constant time and allow
300 seconds of clock difference. The headers of the Standard Webhooks specification come along, so its libraries verify the
same delivery.

To replace the secret, rotate it in the portal under **Webhooks**, have your receiver accept both secrets, then activate the new
one; after 24 hours it becomes active by itself. Each attempt is signed with the secret that is active then, however old the
event is.

${inAllLanguages(receiverSnippet)}
`;
}
