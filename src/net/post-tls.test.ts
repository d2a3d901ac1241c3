import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer, rootCertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { selfSigned } from '../../test/support/net/self-signed.ts';
import { createPoster } from './post.ts';

setDefaultCACertificates([...rootCertificates, selfSigned.cert]);

/** Sends a POST to a server that listens on a port of its own. */
async function postTo(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const poster = createPoster({ allowCidrs: ['127.0.0.0/8'], plainHttp: true }, { timeoutMs: 60_000 });
  after(async () => {
    await poster.close();
    server.close();
  });
  return poster.post(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`, {}, '');
}

/** The ids of the cipher suites in a ClientHello, after its header, version, random and session id. */
function suitesIn(hello: Buffer): number[] {
  const at = 44 + hello.readUInt8(43);
  const count = hello.readUInt16BE(at) / 2;
  return Array.from({ length: count }, (_, i) => hello.readUInt16BE(at + 2 + 2 * i));
}

/** All suites with an ephemeral Diffie-Hellman exchange without curves that Node knows. */
const withoutCurves = [0x33, 0x39, 0x67, 0x6b, 0x9e, 0x9f, 0xc09e, 0xc09f, 0xc0a2, 0xc0a3, 0xccaa];

test('a receiver is offered no exchange whose numbers it could choose', async () => {
  let suites: number[] = [];
  const server = createServer((socket) => {
    socket.once('data', (hello) => {
      suites = suitesIn(hello);
      socket.destroy();
    });
  });
  assert.ok('error' in (await postTo(server)));
  assert.ok(suites.includes(0xc02f), 'ECDHE-RSA-AES128-GCM-SHA256');
  assert.deepEqual(
    suites.filter((id) => withoutCurves.includes(id)),
    [],
  );
});

test('a receiver that begins another handshake on an open connection is refused', async () => {
  const handshakes: string[] = [];
  const answer = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  const server = createTlsServer({ ...selfSigned, maxVersion: 'TLSv1.2' }, (socket: TLSSocket) => {
    socket.on('error', ({ message }) => handshakes.push(message)).resume();
    socket.renegotiate({}, () => {
      handshakes.push('done');
      answer(socket);
    });
    socket.once('error', () => socket.destroy());
  });
  await postTo(server);
  assert.equal(handshakes.length, 1);
  assert.match(handshakes[0] ?? '', /no renegotiation/);
});
