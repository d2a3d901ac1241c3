import type { FastifyReply } from 'fastify';
import { createApiKey, usualKey } from '../../auth/api-keys.ts';
import { FormRepeated } from '../../auth/form-repeated.ts';
import { browseKeys, isUsable } from '../../auth/own-keys.ts';
import { may, type Permission } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { findPayableMerchant, listMerchants } from '../../merchants/read.ts';
import { browseRequests } from '../../requests/lists/browse.ts';
import { commonTexts } from '../../texts/common.ts';
import { type PortalTexts, portalTexts } from '../../texts/portal.ts';
import { card, shapeOf } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { fill, type Words } from '../../ui/language.ts';
import { docsPath } from '../../web/docs-path.ts';
import { formKeyField, formKeyOf } from '../../web/form-key.ts';
import { readDeliveryHealth } from '../../webhooks/health.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { newKey } from '../settings/keys.ts';
import { sendPortal } from '../shell.ts';
import { newTestMerchant, testWalletOf } from '../webhooks/test.ts';
import { createSnippet, receiverPort, receiverSnippet, type SnippetValues, snippetLanguages } from './snippets.ts';

const path = '/portal/start';

/** `/portal/start`: the steps until the first event is delivered, with programs that run as pasted. */
export function gettingStarted(pages: PortalPages, ctx: Context): void {
  // If the response to a form is the page itself, the browser keeps the form's address, so the page must be there too.
  for (const address of [path, `${path}/key`]) {
    pages.page({ url: address, permission: 'read' }, (call) => showStart(ctx, call, null));
  }

  // Only for test mode: live keys are created on the page that manages keys.
  pages.form({ url: `${path}/key`, permission: 'keys', fresh: 'never' }, async (call) => {
    if (call.mode === 'live') return call.reply.redirect('/portal/keys', 303);
    const sandbox = testWalletOf(ctx, call.scope);
    const isAlone = sandbox && (await findPayableMerchant(ctx, call.scope)) === null;
    if (isAlone) await newTestMerchant(ctx, sandbox, call);
    const formKey = formKeyOf(call);
    try {
      const { key } = await createApiKey(ctx, call.actor, call.scope, { ...usualKey, formKey });
      return await showStart(ctx, call, key);
    } catch (error) {
      if (error instanceof FormRepeated) return call.done('/portal/keys', 'repeated');
      throw error;
    }
  });
}

async function showStart(ctx: Context, call: PortalCall, made: string | null): Promise<FastifyReply> {
  const { words, scope, mode, user, reply } = call;
  const { start, places } = portalTexts(words);
  const [keys, [merchant], requests, health, payable] = await Promise.all([
    browseKeys(ctx.db, scope, null),
    listMerchants(ctx, scope, { limit: 1, offset: 0 }),
    browseRequests(ctx, scope, {}, null),
    readDeliveryHealth(ctx, scope),
    findPayableMerchant(ctx, scope),
  ]);
  const key = keys.rows.find((row) => isUsable(row, ctx.clock.now()));
  const hint = may(user, 'keys.read', mode) ? key?.hint : undefined;
  const values: SnippetValues = {
    baseUrl: ctx.config.baseUrl,
    // An HTTP header cannot contain “…”: with it, programs would fail before the service could say what is wrong with
    // the key.
    key: made ?? hint?.replace('…', '...') ?? `qt_${mode}_...`,
    accountId: payable ?? '…',
  };
  const done: Record<Step, boolean> = {
    key: key !== undefined,
    merchant: merchant !== undefined,
    request: requests.rows.length > 0,
    webhook: health.url !== null,
    event: health.last_success_at !== null,
  };
  const keyForm = form({
    action: actionIn(call, `${path}/key`),
    inside: html`<p class="quiet">${start.keyRest}</p>${formKeyField()}`,
    submit: start.makeKey,
  });
  const isMaker = mode === 'test' && may(user, 'keys', mode);
  return sendPortal(ctx, reply, call, {
    path,
    title: places.start,
    body: html`
      ${checklist(call, done, { canPay: testWalletOf(ctx, scope) !== null, isFailing: health.failures > 0 })}
      ${made === null ? isMaker && card(keyForm) : newKey(words, made)}
      <section class="section" id="programs">
        <h2>${start.snippets}</h2>
        <p class="quiet">${payable === null ? start.noMerchant : start.snippetsRest}</p>
        <p><a href="${docsPath}/">${places.docs}</a></p>
        ${snippetLanguages.map((language, i) => snippetCard(words, language, values, i === 0))}
      </section>
    `,
  });
}

type Step = keyof PortalTexts['start']['steps'];
const steps: [step: Step, path: string, permission: Permission][] = [
  ['key', '/portal/keys', 'keys'],
  ['merchant', '/portal/merchants', 'merchants.invite'],
  ['request', '#programs', 'read'],
  ['webhook', '/portal/webhooks', 'webhooks'],
  ['event', '/portal/webhooks', 'read'],
];

/** The steps. `canPay`: a test wallet pays at the press of a button. `isFailing`: the endpoint accepts no events. */
function checklist(
  { words, user, mode }: PortalCall,
  done: Record<Step, boolean>,
  { canPay, isFailing }: { canPay: boolean; isFailing: boolean },
): Html {
  const { start, webhooks } = portalTexts(words);
  const manual = mode === 'live' ? webhooks.testLive : webhooks.testManually;
  const restOf = (step: Step) => {
    if (step !== 'event' || done.event) return start.steps[step].rest;
    if (isFailing) return start.eventFailing;
    return canPay ? start.steps.event.rest : manual;
  };
  const shapeAt = (step: Step) => (done[step] ? 'paid' : step === 'event' && isFailing ? 'attention' : 'waiting');
  const count = steps.filter(([step]) => done[step]).length;
  return card(
    html`<h2>${fill(start.progress, { done: count, of: steps.length })}</h2>`,
    html`
      <ol class="timeline">
        ${steps.map(([step, to, permission]) => {
          const { title } = start.steps[step];
          const label = may(user, permission, mode) ? html`<a href="${to}">${title}</a>` : title;
          const state = done[step] ? start.done : start.toDo;
          return html`
            <li class="${shapeAt(step)}">
              ${shapeOf(shapeAt(step))}
              <p>
                <strong>${label}</strong> <span class="hidden">${state}</span>
              </p>
              <p class="quiet">${restOf(step)}</p>
            </li>
          `;
        })}
      </ol>
    `,
  );
}

function snippetCard(
  words: Words,
  language: (typeof snippetLanguages)[number],
  values: SnippetValues,
  isOpen: boolean,
): Html {
  const { start } = portalTexts(words);
  const code = (id: string, title: string, text: string) =>
    html`
      <div class="section">
        <h3>${title}</h3>
        <pre class="code" tabindex="0" id="${language}-${id}">${text}</pre>
        <button
          type="button"
          class="second"
          data-copy="${text}"
          data-copied="${commonTexts(words).common.copied}"
          hidden
        >
          ${commonTexts(words).common.copy}
        </button>
      </div>
    `;
  return html`
    <details class="card"${isOpen && html` open`}>
      <summary>${start.languages[language]}</summary>
      ${code('create', start.create, createSnippet(language, values))}
      ${code('receive', language === 'curl' ? start.check : start.receive, receiverSnippet(language))}
      ${language !== 'curl' && html`<p class="quiet">${fill(start.receiveRest, { port: receiverPort })}</p>`}
    </details>
  `;
}
