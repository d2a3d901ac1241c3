import type { FastifyRequest } from 'fastify';

/** Where a call comes from. */
export type Client = { ip: string; userAgent: string | undefined };

/** The client that sent a request. */
export const clientOf = ({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): Client => ({
  ip,
  userAgent: headers['user-agent'],
});
