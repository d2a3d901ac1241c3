import { connect } from 'node:net';
import type { Database } from '../../../src/db/connection.ts';
import { makeKey, makeMerchant, makePartner } from '../fixtures.ts';
import type { Situation } from './changed-merchants.ts';
import { ApiClient, type ApiJson } from './client.ts';

/** A server, and the database whose statements it sends. */
export type Node = { db: Database; url: string };
/** An answer with its call's id. */
export type Told = { status: number; id: string; json: ApiJson };
/** One create: its key and merchant, the fields that differ from those of the others, and its host if not the shared one. */
export type Call = [Situation, more?: Record<string, unknown>, host?: string];

/** The text of a create over HTTP. */
function textOf({ url }: Pick<Node, 'url'>, [{ merchant, key }, more = {}, host = new URL(url).host]: Call): string {
  const body = JSON.stringify({ account_id: merchant.id, fiat_amount_int: 1250, ...more });
  const headers = [
    `host: ${host}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `POST /api/v1/requests/create HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

/** The first answer of a connection and the bytes after it; null if it is not complete. */
function readAnswer(bytes: Buffer): [answer: Told, rest: Buffer] | null {
  const end = bytes.indexOf('\r\n\r\n') + 4;
  const head = bytes.subarray(0, end).toString('latin1');
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const id = /^x-request-id: *(\S+)/im.exec(head)?.[1] ?? '';
  if (end < 4 || length === undefined || bytes.length < end + Number(length)) return null;
  const text = bytes.subarray(end, end + Number(length)).toString('utf8');
  return [{ status: Number(head.split(' ')[1]), id, json: JSON.parse(text) }, bytes.subarray(end + Number(length))];
}

/**
 * Sends creates over one connection without waiting for answers, so that all arrive in one turn of the server's event
 * loop, which handles them at once. The answers come in the order of the creates.
 */
export function sendAll(node: Pick<Node, 'url'>, calls: Call[]): Promise<Told>[] {
  const answers = calls.map(() => Promise.withResolvers<Told>());
  const { hostname, port } = new URL(node.url);
  const socket = connect(Number(port), hostname, () => socket.write(calls.map((call) => textOf(node, call)).join('')));
  let [bytes, at]: [Buffer, number] = [Buffer.alloc(0), 0];
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let read = readAnswer(bytes); read; read = readAnswer(bytes)) {
      answers[at++]?.resolve(read[0]);
      bytes = read[1];
    }
    if (at === calls.length) socket.end();
  });
  const fail = (error?: Error) => {
    for (const { reject } of answers.slice(at)) reject(error ?? new Error('the server closed the connection'));
  };
  socket.on('error', fail).on('close', () => fail());
  return answers.map(({ promise }) => promise);
}

export const create = (node: Pick<Node, 'url'>, call: Call): Promise<Told> => sendAll(node, [call])[0] as Promise<Told>;

/** A partner with a merchant and a key for which the server already remembers what decides a create. */
export async function remembered(node: Node, currency = 'USD'): Promise<Situation> {
  const { partner, test: scope } = await makePartner(node.db, { currency });
  const merchant = await makeMerchant(node.db, scope, { currency });
  const { key, key_id: keyId } = await makeKey(node.db, scope);
  const test = { scope, api: new ApiClient(node.db, node.url, scope), merchant };
  const situation = { one: { partner, test }, merchant, key, keyId };
  const { status, json } = await create(node, [situation, { fiat_amount_int: 1240 }]);
  if (status !== 201) throw new Error(JSON.stringify(json));
  return situation;
}

export const several = (node: Node, count: number): Promise<Situation[]> =>
  Promise.all(Array.from({ length: count }, () => remembered(node)));

/** Watches how a server stores creates: how many are in each statement, and which sessions send them. */
export function watchCreates({ db }: Pick<Node, 'db'>) {
  const groups: { size: number; session: number }[] = [];
  const seen = { groups, sizes: () => groups.map(({ size }) => size), alone: 0, others: 0, end: () => {} };
  db.sql.observer = (session, { text, values }) => {
    if (/store_together/.test(text)) {
      groups.push({ size: Math.max(...values.map((value) => (Array.isArray(value) ? value.length : 0))), session });
    } else if (/store_as_assumed/.test(text)) seen.alone++;
    else seen.others++;
  };
  seen.end = () => {
    db.sql.observer = null;
  };
  return seen;
}

/**
 * Sends creates at the same time, after one of another partner: that one is stored alone, and these together.
 *
 * @returns the answers, once all have come, and what was sent
 */
export async function atOnce(node: Node, first: Situation, calls: Call[]) {
  const seen = watchCreates(node);
  const [, ...answers] = await Promise.all(sendAll(node, [[first], ...calls]));
  seen.end();
  return { answers, seen };
}
