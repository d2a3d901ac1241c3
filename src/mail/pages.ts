import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { html } from '../lib/html.ts';
import { card } from '../ui/components.ts';
import { instant } from '../ui/formats.ts';
import { wordsFor } from '../ui/language.ts';
import { sendPage } from '../ui/layout.ts';
import { listMails } from './outbox.ts';

const shown = 50;

/** `GET /dev/mail`: the newest mails. Only in the sandbox, where they go to nobody else. */
export function mailPages(app: FastifyInstance, ctx: Context): void {
  if (!ctx.config.sandbox) return;
  app.route({
    method: 'GET',
    url: '/dev/mail',
    config: { auth: 'public' },
    handler: async (request, reply) => {
      const words = wordsFor(request);
      const mails = await listMails(ctx.db.sql, shown);
      const list = mails.map((mail) =>
        card(
          html`<h2>${mail.subject}</h2>
<p class="quiet">To ${mail.recipient}, ${instant(words, mail.created_at)}</p>
<pre>${mail.body}</pre>`,
        ),
      );
      const empty = card(
        html`<h2>No mail yet</h2>
<p class="quiet">Create a merchant with an e-mail address and open its onboarding_url: the code it is sent shows up here.</p>`,
      );
      const title = 'Mail of the sandbox';
      return sendPage(reply, 200, {
        title,
        words,
        testMode: true,
        body: html`<h1>${title}</h1>${list.length ? list : empty}`,
      });
    },
  });
}
