import type { FastifyReply } from 'fastify';
import { card, stateLine } from './components.ts';
import { sendPage } from './layout.ts';

/** A page that says what happened, whether money moved, and what to do. */
export function sendNotice(reply: FastifyReply, status: number, title: string, sentences: string): FastifyReply {
  return sendPage(reply, status, {
    title,
    testMode: false,
    body: card(stateLine(status >= 500 ? 'failed' : 'ended', title, sentences, 'h1')),
  });
}

/** 404: an address that leads nowhere. */
export function sendNotFound(reply: FastifyReply): FastifyReply {
  const advice =
    'The link may be incomplete. Open it again as it was sent to you, or ask whoever sent it for a new one.';
  return sendNotice(reply, 404, 'There is nothing here', advice);
}

/** 500 or 503: our fault. */
function sendTrouble(reply: FastifyReply, status: 500 | 503): FastifyReply {
  const advice =
    'This is our fault, and no money was moved by it. A payment you already sent is on the chain and will be found. Try again in a minute.';
  return sendNotice(reply, status, 'Something is not working on our side', advice);
}

/** The page for an expected failure of an address that belongs to no other page. */
export function errorPage(reply: FastifyReply, status: number, message: string): FastifyReply {
  if (status === 404) return sendNotFound(reply);
  if (status === 500 || status === 503) return sendTrouble(reply, status);
  return sendNotice(reply, status, 'That did not work', message);
}
