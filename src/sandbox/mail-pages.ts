import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { html } from '../lib/text/html.ts';
import { listMails, readMail } from '../mail/outbox.ts';
import { card } from '../ui/components.ts';
import { instant } from '../ui/formats.ts';
import { wordsOf } from '../ui/language.ts';
import { sendPage } from '../web/layout.ts';

const shown = 50;
const path = '/dev/mail';
/** These pages are for developers, so they are in English. The mails are in their recipients' languages. */
const words = wordsOf('en');

/**
 * `GET /dev/mail`: the newest mails as text, each with a link to a page that shows it as its recipient sees it. Only in
 * the sandbox.
 */
export function mailPages(app: FastifyInstance, ctx: Context): void {
  if (!ctx.config.sandbox) return;
  const config = { auth: 'public' as const };
  app.route({
    method: 'GET',
    url: path,
    config,
    handler: async (_request, reply) => {
      const mails = await listMails(ctx.db.sql, shown);
      const list = mails.map((mail) =>
        card(
          html`
            <h2 dir="auto">${mail.subject}</h2>
            <p class="quiet">To ${mail.recipient}, ${instant(words, mail.created_at)}</p>
            ${mail.html !== null && html`<p><a href="${path}/${mail.id}">As the recipient sees it</a></p>`}
            <details${mail.html === null && html` open`}>
              <summary>As text</summary>
              <pre dir="auto">${mail.body}</pre>
            </details>
          `,
        ),
      );
      const empty = card(
        html`
          <h2>No mail yet</h2>
          <p class="quiet">
            Create a merchant with an e-mail address and open its onboarding_url: the code it is sent shows up here.
          </p>
        `,
      );
      const title = 'Sandbox mail';
      return sendPage(reply, 200, {
        title,
        words,
        testMode: true,
        body: html`<h1>${title}</h1>${list.length ? list : empty}`,
      });
    },
  });
  // A separate document, as restricted as in a mail reader: no script, no form, and only our logos are loaded.
  app.route({
    method: 'GET',
    url: `${path}/:id`,
    config,
    handler: async (request, reply) => {
      const { id } = request.params as { id: string };
      const mail = isUuid(id) ? await readMail(ctx.db.sql, id) : null;
      if (!mail?.html) throw refuse('not_found');
      return reply
        .headers({
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy':
            "default-src 'none'; style-src 'unsafe-inline'; " +
            `img-src ${new URL(ctx.config.baseUrl).origin} data:; base-uri 'none'; form-action 'none'; ` +
            "frame-ancestors 'none'; sandbox allow-top-navigation-by-user-activation",
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        })
        .send(mail.html);
    },
  });
}
