import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/text/html.ts';
import { wordsOf } from '../ui/language.ts';
import { docsPath } from '../web/docs-path.ts';
import { sendPage } from '../web/layout.ts';
import { demoSignInPath } from './demo-sign-in.ts';
import { isDeveloper } from './guard.ts';

/** The page is for developers, so it is in English. */
const words = wordsOf('en');

/**
 * `door`: the page of the demo that a button opens, already signed in, for developers. `developers`: shown to
 * developers only.
 */
type Entry = {
  path: string;
  name: string;
  about: string;
  door?: Parameters<typeof demoSignInPath>[0];
  developers?: true;
};

/** Pages that are opened by a secret link. The button creates one. */
const ofLinks: Entry[] = [
  {
    path: '/',
    name: 'Pay page',
    about: 'Pay €12.50 as a customer, from a test wallet.',
    door: 'pay',
    developers: true,
  },
  {
    path: '/',
    name: 'Plan page',
    about: 'Agree to €12.00 a month as a customer.',
    door: 'plan',
    developers: true,
  },
  {
    path: '/',
    name: 'Onboarding',
    about: 'For a new merchant: connect a wallet and accept the terms.',
    door: 'onboarding',
    developers: true,
  },
];
const ofPartner: Entry[] = [
  {
    path: '/dashboard',
    name: 'Dashboard',
    about: 'For a merchant: requests, payments and plans.',
    door: 'dashboard',
  },
  { path: '/portal', name: 'Portal', about: 'For a partner: keys, webhooks, merchants.', door: 'portal' },
];
const ofService: Entry[] = [
  { path: '/admin', name: 'Administration', about: 'For whoever runs the service.', door: 'admin' },
  { path: `${docsPath}/`, name: 'API reference', about: 'Guides and every call, to try in the browser.' },
  { path: '/dev/mail', name: 'E-mails', about: 'What this sandbox would have sent.', developers: true },
];

/**
 * `GET /`: the page that the sandbox's printed address opens. It lists all pages; developers open each with one click,
 * already signed in. It contains no API key, because others may be able to reach a sandbox too.
 */
export function frontPage(app: FastifyInstance, ctx: Context): void {
  const mayOpen = isDeveloper(ctx.config);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    config: { auth: 'public' },
    handler: async (request, reply) => {
      const title = 'Quittance sandbox';
      const isOpen = mayOpen(request) && request.ownHost === null;
      const body = html`
        <h1>${title}</h1>
        <p>A demo of every page. ${isOpen && 'Each opens with one click, already signed in.'}</p>
        <ul class="doors">
          ${entriesOf(request)
            .filter(({ developers }) => isOpen || !developers)
            .map((entry) => html`<li>${isOpen && entry.door ? doorOf(entry) : linkTo(entry)}</li>`)}
        </ul>
        <p class="quiet">
          API keys and a first call to paste are in the terminal where the sandbox was started. For programs:${' '}
          <a href="/openapi.json">OpenAPI document</a>${' · '}<a href="/readyz">health</a>
        </p>
      `;
      return sendPage(reply, 200, { title, words, testMode: true, body });
    },
  });
}

const inside = ({ name, about }: Entry): Html => html`<strong>${name}</strong><span class="quiet">${about}</span>`;
const linkTo = (entry: Entry): Html => html`<a href="${entry.path}">${inside(entry)}</a>`;
/** A form, because it creates something and signs in: other sites cannot submit it. */
const doorOf = (entry: Entry): Html => html`
  <form method="post" action="${entry.door ? demoSignInPath(entry.door) : entry.path}">
    <button>${inside(entry)}</button>
  </form>
`;

/** A partner's own host serves only the pages of partners and merchants. */
const entriesOf = ({ ownHost }: FastifyRequest): Entry[] =>
  ownHost === null ? [...ofLinks, ...ofPartner, ...ofService] : ofPartner;
