import type { FastifyRequest } from 'fastify';

/** Where a visitor without a session is sent. After a form, the sign-in says that nothing was saved. */
export function signInAddress(signIn: string, { method, url }: FastifyRequest): string {
  // Who signs out has nothing to save.
  return method === 'POST' && url !== signIn.replace(/in$/, 'out') ? `${signIn}?unsaved` : signIn;
}

/** Whether the sign-in follows a form that was sent without a session. */
export function isUnsaved({ query }: FastifyRequest): boolean {
  return (query as Record<string, unknown>).unsaved !== undefined;
}
