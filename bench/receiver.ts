import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A webhook receiver that reads each POST to its end, keeps the connection and answers 200. It never answers a POST
 * below `/hang/`.
 */
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const hangs = request.url?.startsWith('/hang/');
  request.resume().on('end', () => {
    if (!hangs) response.end('ok');
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
