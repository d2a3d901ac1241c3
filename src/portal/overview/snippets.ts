/** The values in snippets: the public address of the service, a key, and a merchant to be paid. */
export type SnippetValues = { baseUrl: string; key: string; accountId: string };

export const snippetLanguages = ['curl', 'typescript', 'python', 'php'] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** The port on which receivers of the snippets listen, unless PORT says otherwise. */
export const receiverPort = 4000;

/** A program that creates a request and prints the address of its pay page; for curl, the whole response. */
export function createSnippet(language: SnippetLanguage, { baseUrl, key, accountId }: SnippetValues): string {
  const url = `${baseUrl}/api/v1/requests/create`;
  switch (language) {
    case 'curl':
      return `curl -sS '${url}' \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"account_id": "${accountId}", "fiat_amount_int": 1250, "memo": "Table 4"}'`;
    case 'typescript':
      return `import { randomBytes } from 'node:crypto';

const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    authorization: 'Bearer ${key}',
    'content-type': 'application/json',
  },
  body: JSON.stringify({
    account_id: '${accountId}',
    fiat_amount_int: 1250,
    memo: 'Table 4',
    idempotency_key: randomBytes(24).toString('base64url'),
  }),
});
const request = (await response.json()) as { ok: boolean; message: string; pay_page_url: string };
if (!request.ok) throw new Error(request.message);
console.log(request.pay_page_url);`;
    case 'python':
      return `import json
import secrets
import urllib.error
import urllib.request

call = urllib.request.Request(
    "${url}",
    headers={
        "Authorization": "Bearer ${key}",
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "account_id": "${accountId}",
        "fiat_amount_int": 1250,
        "memo": "Table 4",
        "idempotency_key": secrets.token_urlsafe(24),
    }).encode(),
)
try:
    with urllib.request.urlopen(call) as response:
        request = json.load(response)
except urllib.error.HTTPError as refused:
    raise SystemExit(json.load(refused)["message"])
print(request["pay_page_url"])`;
    case 'php':
      return `<?php
$response = file_get_contents('${url}', false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'Authorization: Bearer ${key}',
        'Content-Type: application/json',
    ],
    'content' => json_encode([
        'account_id' => '${accountId}',
        'fiat_amount_int' => 1250,
        'memo' => 'Table 4',
        'idempotency_key' => bin2hex(random_bytes(24)),
    ]),
    'ignore_errors' => true, // error responses say why in their body
]]));
$request = json_decode($response ?: '{}', true);
if (!($request['ok'] ?? false)) {
    throw new RuntimeException($request['message'] ?? 'There was no answer.');
}
echo $request['pay_page_url'], PHP_EOL;`;
  }
}

/**
 * A receiver that accepts only events with a valid signature. Its first comment has the command that starts it. For the
 * shell, how to verify a recorded event.
 */
export function receiverSnippet(language: SnippetLanguage): string {
  const start = (command: string) => `WEBHOOK_SECRET='whsec_…' ${command}`;
  switch (language) {
    case 'curl':
      return `# body.json: the body as it came; HEADER: its x-service-signature
TIME="\${HEADER##*,t=}"
SIGNATURE="\${HEADER#v1=}"
SIGNATURE="\${SIGNATURE%%,*}"
EXPECTED=$( { printf '%s.' "$TIME"; cat body.json; } | openssl dgst -sha256 -hmac "\${WEBHOOK_SECRET:?}" -r | cut -d ' ' -f 1)
[ "$SIGNATURE" = "$EXPECTED" ] && echo genuine || echo forged`;
    case 'typescript':
      return `// ${start('node receive.ts')}
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { env } from 'node:process';

const secret = env.WEBHOOK_SECRET ?? '';
if (secret === '') throw new Error('Set WEBHOOK_SECRET: without it, anybody could sign events.');

function isGenuine(header: string, body: Buffer): boolean {
  const [, signature, time] = /^v1=([0-9a-f]{64}),t=(\\d+)$/.exec(header) ?? [];
  if (!signature || Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const expected = createHmac('sha256', secret).update(\`\${time}.\`).update(body).digest();
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (!isGenuine(String(request.headers['x-service-signature']), body)) {
      response.writeHead(400).end();
      return;
    }
    const event = JSON.parse(body.toString());
    console.log(event.request_id, event.proof_status);
    response.writeHead(200).end();
  });
}).listen(Number(env.PORT ?? ${receiverPort}));`;
    case 'python':
      return `# ${start('python3 receive.py')}
import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"].encode()
if not SECRET:
    raise SystemExit("Set WEBHOOK_SECRET: without it, anybody could sign events.")


def is_genuine(header, body):
    match = re.fullmatch(r"v1=([0-9a-f]{64}),t=(\\d+)", header or "")
    if not match or abs(time.time() - int(match[2])) > 300:
        return False
    expected = hmac.new(SECRET, match[2].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(match[1], expected)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = is_genuine(self.headers["x-service-signature"], body)
        self.send_response(200 if genuine else 400)
        self.end_headers()
        if genuine:
            event = json.loads(body)
            print(event["request_id"], event["proof_status"], flush=True)


ThreadingHTTPServer(("", int(os.environ.get("PORT", ${receiverPort}))), Receiver).serve_forever()`;
    case 'php':
      return `<?php
// ${start(`php -S 0.0.0.0:${receiverPort} receive.php`)}
$secret = getenv('WEBHOOK_SECRET') ?: '';
if ($secret === '') {
    http_response_code(500);
    exit('Set WEBHOOK_SECRET: without it, anybody could sign events.');
}
$body = file_get_contents('php://input');
$header = $_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? '';

$genuine = preg_match('/^v1=([0-9a-f]{64}),t=(\\d+)$/D', $header, $match)
    && abs(time() - (int) $match[2]) <= 300
    && hash_equals(hash_hmac('sha256', $match[2] . '.' . $body, $secret), $match[1]);
if (!$genuine) {
    http_response_code(400);
    exit;
}
$event = json_decode($body, true);
error_log($event['request_id'] . ' ' . $event['proof_status']);
http_response_code(200);`;
  }
}
