import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { detailsJson } from '../src/audit/rules.ts';
import { isWellFormedKey } from '../src/auth/api-keys.ts';
import { hostName } from '../src/auth/host.ts';
import { readCookie } from '../src/auth/session-cookie.ts';
import { readWalletMessage } from '../src/auth/siwe.ts';
import { coerceQuery, compileCheck } from '../src/auth/validate.ts';
import { connectRpc } from '../src/chain/rpc.ts';
import { readSignature } from '../src/chain/signature.ts';
import { readSymbol } from '../src/chain/token-facts.ts';
import { readConfig } from '../src/config.ts';
import { readAmount } from '../src/lib/amount.ts';
import { isAddress, isUuid } from '../src/lib/ids.ts';
import { parseDecimal } from '../src/lib/money.ts';
import { placeOf } from '../src/lib/paging.ts';
import { parseHex } from '../src/lib/text/color.ts';
import { isOneAddress } from '../src/lib/text/email.ts';
import { html } from '../src/lib/text/html.ts';
import { oneLine } from '../src/lib/text/one-line.ts';
import { parseReceiptNumber } from '../src/lib/text/receipt-number.ts';
import { parseStrictJson } from '../src/lib/text/strict-json.ts';
import { browserName } from '../src/lib/text/user-agent.ts';
import { parseInstant, systemClock } from '../src/lib/time.ts';
import { smtpTransport } from '../src/mail/smtp.ts';
import { CreateMerchant, MerchantQuery } from '../src/merchants/contract.ts';
import { readDetails } from '../src/merchants/details.ts';
import { toDecimal } from '../src/rates/rules.ts';
import { parseExactJson } from '../src/rates/source.ts';
import { CreateRequest } from '../src/requests/contract.ts';
import { opensRequest } from '../src/requests/open.ts';
import { languageFor } from '../src/ui/language.ts';
import { emailFrom } from '../src/users/rules.ts';
import { retryAfterMs } from '../src/webhooks/rules.ts';
import { verifySignature } from '../src/webhooks/sign.ts';

/**
 * Measures every function that reads text from outside with its worst texts, of 32 and 128 kB: `npm run bench:inputs`.
 * Four times the text may take four times the time. What takes much longer is marked, and the exit code is then 1.
 */
const small = 32 * 1024;
const large = 128 * 1024;
/** Below this time a factor means nothing. */
const noticeableMs = 50;
const tolerated = 8;

const fill = (bytes: number, unit: string, end = '') => unit.repeat(Math.ceil(bytes / unit.length)) + end;

/** Texts that make a careless regular expression backtrack over and over. */
const shapes: Record<string, (bytes: number) => string> = {
  spaces: (n) => fill(n, ' ', 'x'),
  tabs: (n) => fill(n, '\t', 'x'),
  lines: (n) => fill(n, '\n', 'x'),
  'carriage returns': (n) => fill(n, '\r\n', 'x'),
  letters: (n) => fill(n, 'a', '\0'),
  digits: (n) => fill(n, '1', 'x'),
  zeros: (n) => fill(n, '0', 'x'),
  'hex digits': (n) => `0x${fill(n, 'ab', 'x')}`,
  NULs: (n) => fill(n, '\0', 'x'),
  dots: (n) => `a@${fill(n, '.', ' ')}`,
  'dotted digits': (n) => `1.${fill(n, '1.', 'x')}`,
  'digits and spaces': (n) => fill(n, '1 ', 'x'),
  'at signs': (n) => fill(n, 'a@', ' '),
  semicolons: (n) => fill(n, '; ', 'lang'),
  'equals signs': (n) => fill(n, '=', ';'),
  commas: (n) => fill(n, 'de;q=0.1,', 'x'),
  quotes: (n) => fill(n, '"', 'x'),
  backslashes: (n) => fill(n, '\\', 'x'),
  brackets: (n) => fill(n, '[<({', 'x'),
  slashes: (n) => fill(n, '/', 'x'),
  dashes: (n) => fill(n, 'a-', '='),
  'control characters': (n) => fill(n, '\u0001\u2028', 'x'),
  'wide letters': (n) => fill(n / 4, '😀', '\ud800'),
  'bearer and spaces': (n) => `Bearer ${fill(n, ' ', '\n')}`,
  'crawler’s beginning': (n) => fill(n, 'yandex'),
  'secret’s beginning': (n) => fill(n, 'whsec_', '!'),
  'hash’s beginning': (n) => fill(n, ' 0xa'),
};

const config = readConfig({ DATA_DIR: '/nonexistent' });
const host = new URL(config.baseUrl).host;
const siwe = { config, clock: systemClock };
const signIn = { path: '/dashboard/sign-in', statement: 'I sign in.' };
const own = `${host} wants you to sign in with your Ethereum account:\n0x${'ab'.repeat(20)}\n\n`;
const readMessage = (message: string) => readWalletMessage(siwe, signIn, { message, host: null });
const checkMerchant = compileCheck(CreateMerchant);
const checkRequest = compileCheck(CreateRequest);
const inFields = (fields: string[], text: string) => Object.fromEntries(fields.map((field) => [field, text]));
const now = new Date();
const bytesOf = (text: string) => `0x${Buffer.from(text).toString('hex')}`;

/** Servers that send prepared answers. */
const servers: Server[] = [];
async function listen(server: Server): Promise<number> {
  servers.push(server.unref());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
let said = '';
const provider = await listen(createHttpServer((_request, response) => response.end(said)));
const smtp = await listen(
  createServer((socket) => {
    socket.on('error', () => {});
    socket.end(said);
  }),
);
const send = smtpTransport({ smtpUrl: `smtp://127.0.0.1:${smtp}`, from: 'Quittance <mail@quittance.example>' });
const letter = { id: '1', recipient: 'ada@example.com', subject: 'Receipt', body: 'Paid.' };

function answering(text: string, ask: () => unknown): unknown {
  said = text;
  return ask();
}
const askProvider = (answer: object) =>
  answering(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }), () =>
    connectRpc(`http://127.0.0.1:${provider}`).code(`0x${'ab'.repeat(20)}`),
  );

/** The functions that read text from outside, by its source. */
const readers: Record<string, (text: string) => unknown> = {
  'form: wallet message': readMessage,
  'form: wallet message that begins as ours': (text) => readMessage(own + text),
  'form: wallet message with fields': (text) =>
    readMessage(`${own}I sign in.\n\n${`URI: ${text.slice(0, 50)}`.repeat(Math.ceil(text.length / 55))}`),
  'form: signature': readSignature,
  'form: address': isAddress,
  'form: e-mail': isOneAddress,
  'form: e-mail of a person': emailFrom,
  'form: amount': (text) => readAmount(text, 'EUR'),
  'form: colour': parseHex,
  'form: details': (text) => readDetails(inFields(['email', 'display_name', 'country', 'phone', 'website'], text)),
  'form: receipt number': parseReceiptNumber,
  'query: instant': parseInstant,
  'query: cursor': placeOf,
  'query: merchants': (text) => coerceQuery(MerchantQuery, inFields(['limit', 'offset', 'disabled'], text)),
  'path: id': isUuid,
  'header: cookie': (text) => readCookie(text, 'portal-session'),
  'header: cookie, language': (text) => languageFor({ headers: { cookie: text } }),
  'header: accept-language': (text) => languageFor({ headers: { 'accept-language': text } }),
  'header: user-agent, name': browserName,
  'header: user-agent, previews': (text) => opensRequest('GET', { 'user-agent': text }),
  'header: purpose': (text) => opensRequest('GET', { purpose: text }),
  'header: host': hostName,
  'header: key': isWellFormedKey,
  'body: JSON text': (text) => parseStrictJson(Buffer.from(JSON.stringify({ text, more: [text.slice(0, 9)] }))),
  'body: JSON as it is': (text) => parseStrictJson(Buffer.from(`{"a":"b"${text}`)),
  'body: JSON with keys': (text) => parseStrictJson(Buffer.from(`{"a"${' '.repeat(text.length)}:{"b":1}}`)),
  'body: JSON, deep': (text) =>
    parseStrictJson(Buffer.from(`{"a":${'['.repeat(text.length / 2)}${']'.repeat(text.length / 2)}}`)),
  'body: merchant': (text) => checkMerchant(inFields(Object.keys(CreateMerchant.properties), text)),
  'body: request': (text) => checkRequest(inFields(Object.keys(CreateRequest.properties), text)),
  'chain: result': (result) => askProvider({ result }),
  'chain: fault': (message) => askProvider({ error: { code: -32005, message } }),
  'mail server: greeting': (text) => answering(`${text}\r\n`, () => send(letter, AbortSignal.timeout(30_000))),
  'mail server: lines': (text) =>
    answering(`220-${text.replaceAll(' ', '\r\n220-')}\r\n`, () => send(letter, AbortSignal.timeout(30_000))),
  'chain: symbol': (text) => readSymbol(bytesOf(text)),
  'rate source: document': (text) => parseExactJson(`{"a":${text}`),
  'rate source: number': toDecimal,
  'rate: override': parseDecimal,
  'receiver: retry-after': (text) => retryAfterMs(text, now),
  'our signature, read back': (text) => verifySignature('whsec_', text, '', now),
  'shown: HTML': (text) => html`${text}`.text,
  'shown: subject of a mail': oneLine,
  'kept: audit log': (text) => detailsJson({ text }),
};

/** CPU time of this thread in milliseconds, independent of other load on the machine. */
async function measureMs(run: (text: string) => unknown, text: string): Promise<number> {
  const start = process.threadCpuUsage();
  try {
    await run(text);
  } catch {
    // A refusal is a valid result.
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1_000;
}

/** The faster of two runs: the first may include collecting garbage of earlier ones. */
async function fastestMs(run: (text: string) => unknown, text: string): Promise<number> {
  return Math.min(await measureMs(run, text), await measureMs(run, text));
}

let failed = false;
for (const [reader, run] of Object.entries(readers)) {
  let worst = { shape: '', smallMs: 0, largeMs: -1 };
  for (const [shape, make] of Object.entries(shapes)) {
    const smallMs = await fastestMs(run, make(small));
    const largeMs = await fastestMs(run, make(large));
    if (largeMs > worst.largeMs) worst = { shape, smallMs, largeMs };
  }
  const { shape, smallMs, largeMs } = worst;
  const isSlow = largeMs > noticeableMs && largeMs > tolerated * smallMs;
  failed ||= isSlow;
  const figures = `${smallMs.toFixed(2).padStart(9)} ${largeMs.toFixed(2).padStart(9)}`;
  process.stdout.write(`${reader.padEnd(42)}${figures} ms  ${shape}${isSlow ? '  ← super-linear' : ''}\n`);
}
for (const server of servers) server.close();
process.exitCode = failed ? 1 : 0;
