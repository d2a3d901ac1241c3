import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook receiver that reads each POST to its end, keeps the connection and answers 200. */
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume().on('end', () => response.end('ok'));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
