import { endMerchantSession } from '../../auth/end-session.ts';
import { listMerchantSessions, type SessionView } from '../../auth/merchant-session.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { html } from '../../lib/text/html.ts';
import { browserName } from '../../lib/text/user-agent.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { form } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fillHtml, type Words } from '../../ui/language.ts';
import type { MerchantPages } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';

const path = '/dashboard/sessions';

/** `GET /dashboard/sessions`: where the merchant is signed in. `POST …/end` signs another browser out. */
export function merchantSessionPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, async (visit) => {
    const { session, words } = visit;
    const sessions = await listMerchantSessions(ctx, session.scope, session.accountId);
    return sendDashboard(ctx, visit, {
      path,
      title: dashboardTexts(words).sessions,
      body: html`
          <ul class="options">${sessions.map((one) => html`<li>${entry(words, one, one.id === session.id)}</li>`)}</ul>
        `,
    });
  });
  pages.form({ url: `${path}/end` }, async (visit) => {
    const { reply, session, fields } = visit;
    const { scope, accountId } = session;
    const id = fields.session ?? '';
    if (isUuid(id)) await endMerchantSession(ctx, merchantActor(visit), scope, accountId, id);
    return reply.redirect(`${path}?done=ended`, 303);
  });
}

function entry(words: Words, { id, last_seen_at, ip, user_agent }: SessionView, own: boolean) {
  const dashboard = dashboardTexts(words);
  const browser = user_agent === null ? signInTexts(words).account.unknownBrowser : browserName(user_agent);
  return html`
    <p><strong>${own ? dashboard.thisOne : browser}</strong></p>
    <p class="quiet">${fillHtml(dashboard.lastSeen, { time: instant(words, last_seen_at), ip })}</p>
    ${
      own
        ? form({ action: '/dashboard/sign-out', submit: dashboard.signOut, second: true })
        : form({ action: `${path}/end`, hidden: { session: id }, submit: dashboard.signOutThere, second: true })
    }
  `;
}
