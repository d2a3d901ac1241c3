import type { FastifyInstance, FastifyRequest } from 'fastify';
import { docsPath } from '../http/api-document.ts';
import { html } from '../lib/text/html.ts';
import { card } from '../ui/components.ts';
import { wordsOf } from '../ui/language.ts';
import { sendPage } from '../web/layout.ts';

/** For developers, who read the documentation in English too. */
const words = wordsOf('en');

type Entry = { path: string; name: string; about: string };

const ofPartner: Entry[] = [
  { path: '/portal', name: 'Portal', about: 'for partner users' },
  { path: '/dashboard', name: 'Dashboard', about: 'for merchants, who sign in with their wallet' },
];
const ofService: Entry[] = [
  { path: '/admin', name: 'Administration', about: 'for operators' },
  { path: `${docsPath}/`, name: 'API reference', about: 'try calls from the browser' },
  { path: '/openapi.json', name: 'OpenAPI document', about: 'the same for programs' },
  { path: '/dev/mail', name: 'Mails', about: 'sent to nobody else; shown to this machine only' },
  { path: '/readyz', name: 'Health', about: 'health checks' },
];

/**
 * Whoever opens the address that the sandbox printed sees where to go. Holds no key: others may reach a sandbox too.
 */
export function frontPage(app: FastifyInstance): void {
  app.route({
    method: 'GET',
    url: '/',
    config: { auth: 'public' },
    handler: async (request, reply) => {
      const title = 'Quittance sandbox';
      const list = entriesOf(request).map(
        ({ path, name, about }) => html`<li><a href="${path}">${name}</a>: ${about}</li>`,
      );
      const body = html`
        <h1>${title}</h1>
        ${card(html`
          <p>It runs. No real money is here.</p>
          <ul>${list}</ul>
          <p class="quiet">Keys, merchants and a first call to paste stand in the terminal where it was started.</p>
        `)}
      `;
      return sendPage(reply, 200, { title, whose: null, words, testMode: true, body });
    },
  });
}

/** A partner's own host has that partner's entries only. */
const entriesOf = ({ ownHost }: FastifyRequest): Entry[] =>
  ownHost === null ? [...ofPartner, ...ofService] : ofPartner;
