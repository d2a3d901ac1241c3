import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { refuse } from '../errors.ts';
import { inNetworks, isLoopback } from '../lib/networks.ts';

/** Headers that a proxy adds. The socket's address is then the proxy's, not the client's. */
const forwarding = /^(?:forwarded|via|x-real-ip|x-forwarded-.+)$/;

/**
 * Restricts the sandbox's `/dev` pages, which show all mails, to this machine and to configured networks. Others get
 * 404. Only the socket's address identifies this machine, never a header.
 */
export function guardDev(app: FastifyInstance, config: Guarded): void {
  const mayPass = isDeveloper(config);
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url?.startsWith('/dev/') && !mayPass(request)) throw refuse('not_found');
  });
}

type Guarded = Pick<Config, 'devAllowCidrs' | 'trustProxy'>;

/** Whether a call comes from this machine, or from a configured network. */
export function isDeveloper(config: Guarded): (request: FastifyRequest) => boolean {
  const isAllowed = inNetworks(config.devAllowCidrs);
  const isProxy = inNetworks(config.trustProxy);
  const isThisMachine = ({ headers, socket }: FastifyRequest) =>
    isLoopback(socket.remoteAddress) &&
    !isProxy(socket.remoteAddress) &&
    !Object.keys(headers).some((name) => forwarding.test(name));
  return (request) => isThisMachine(request) || isAllowed(request.ip);
}
