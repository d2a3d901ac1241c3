import type { FastifyReply } from 'fastify';
import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { card, stateLine } from '../ui/components.ts';
import { wordsFor } from '../ui/language.ts';
import { sendPage } from './layout.ts';

/** The areas for signed-in users. */
const homes = ['portal', 'admin', 'dashboard'];

/**
 * A link back to the area, for a visitor whose browser has a session of it; null without one, and if it would lead to
 * the same page.
 */
function homeLink({ request }: FastifyReply): Html | null {
  const [path = ''] = request.url.split('?');
  const home = homes.find((one) => path.startsWith(`/${one}/`));
  return home === undefined || !request.headers.cookie?.includes(`${home}-session=`)
    ? null
    : html`<p><a href="/${home}">${commonTexts(wordsFor(request)).errors.home}</a></p>`;
}

/** A page that says what happened, whether money moved, and what to do. */
export function sendNotice(reply: FastifyReply, status: number, title: string, sentences: string): FastifyReply {
  return sendPage(reply, status, {
    title,
    // A partner's own host does not show our name.
    ...(reply.request.ownHost && { whose: null }),
    words: wordsFor(reply.request),
    testMode: null,
    // The same address: nothing of it is repeated on the page. That of a form has no page to return to.
    ...(reply.request.method === 'GET' && { path: '' }),
    body: card(stateLine(status >= 500 ? 'failed' : 'ended', title, sentences, 'h1'), homeLink(reply)),
  });
}

/** 404: no page has this address. */
export function sendNotFound(reply: FastifyReply): FastifyReply {
  const { errors } = commonTexts(wordsFor(reply.request));
  return sendNotice(reply, 404, errors.notFound, errors.notFoundRest);
}

/** 403: a form that no page of ours sent. */
export function sendForeignForm(reply: FastifyReply): FastifyReply {
  const { errors } = commonTexts(wordsFor(reply.request));
  return sendNotice(reply, 403, errors.foreignForm, errors.foreignFormRest);
}

/** 403: the user who acts was removed, or given another role, in the meantime. */
export function sendAccessChanged(reply: FastifyReply): FastifyReply {
  const { errors } = commonTexts(wordsFor(reply.request));
  return sendNotice(reply, 403, errors.accessChanged, errors.accessChangedRest);
}

/** 429: too many attempts of one client. */
export function sendTooMany(reply: FastifyReply): FastifyReply {
  const { errors } = commonTexts(wordsFor(reply.request));
  return sendNotice(reply, 429, errors.tooMany, errors.tooManyRest);
}

/** The page for a failure that no other page handles. */
export function errorPage(reply: FastifyReply, status: number, message: string): FastifyReply {
  const { errors } = commonTexts(wordsFor(reply.request));
  if (status === 404) return sendNotFound(reply);
  if (status === 405 && ['GET', 'HEAD'].includes(reply.request.method))
    return sendNotice(reply, status, errors.formAddress, errors.formAddressRest);
  if ([400, 405, 415].includes(status)) return sendNotice(reply, status, errors.malformed, errors.malformedRest);
  if (status === 413) return sendNotice(reply, status, errors.tooLarge, errors.tooLargeRest);
  // 500 or 503: our fault.
  if (status >= 500) return sendNotice(reply, status, errors.trouble, errors.troubleRest);
  return sendNotice(reply, status, errors.failed, message);
}
