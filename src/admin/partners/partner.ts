import type { Context } from '../../context.ts';
import { html } from '../../lib/text/html.ts';
import { createPartner, SlugTaken } from '../../partners/create.ts';
import { readPartner } from '../../partners/read.ts';
import { defaultExpiryMinutes, expiryMinutes, isReservedSlug, isSlug, type NewPartner } from '../../partners/rules.ts';
import { setPartnerDisabled, setPartnerSettings } from '../../partners/settings.ts';
import {
  changedSettings,
  readSettings,
  readShown,
  type SettingsFaults,
  type ShownSettings,
  settingsFaults,
  settingsFields,
  shownSettings,
} from '../../partners/settings-form.ts';
import type { Partner, Settings } from '../../partners/store.ts';
import { listCurrencies } from '../../rates/list.ts';
import { adminTexts } from '../../texts/admin.ts';
import { card, descriptionList, field, hiddenField } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { instant } from '../../ui/formats.ts';
import { fill } from '../../ui/language.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { flashOf } from '../../web/flash.ts';
import { linkWith, oneOf } from '../../web/query.ts';
import type { AdminCall, AdminPages } from '../route.ts';
import { onOff } from './partners.ts';

const newPath = '/admin/new-partner';
const pathOf = (slug: string) => `/admin/partners/${slug}`;

/** The pages of one partner: creates, shows, changes, disables and enables it. */
export function partnerPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: newPath }, async (call) => showNew(ctx, call, 200, { slug: '', shown: initial }));
  pages.form({ url: newPath, fresh: 'always' }, async (call) => {
    const [slug, shown] = [call.typed('slug'), readSettings(call.typed, call.ticked)];
    const faults = settingsFaults(shown, await listCurrencies(ctx));
    const slugFault = !isSlug(slug)
      ? 'slugRule'
      : isReservedSlug(slug)
        ? 'slugReserved'
        : Object.keys(faults).length === 0 && (await make(ctx, call, slug, shown));
    if (slugFault || Object.keys(faults).length > 0) {
      return showNew(ctx, call, 400, { slug, shown, faults, slugFault });
    }
    return call.done(pathOf(slug), 'created');
  });

  const page = `${pathOf(':slug')}`;
  pages.page({ url: page }, async (call) => {
    const partner = await readPartner(ctx.db, call.param('slug'));
    return partner ? showPartner(ctx, call, partner) : sendNotFound(call.reply);
  });
  pages.form({ url: `${page}/settings`, fresh: 'always' }, async (call) => {
    const partner = await readPartner(ctx.db, call.param('slug'));
    if (!partner) return sendNotFound(call.reply);
    const [first, shown] = [readShown(call.ticked), readSettings(call.typed, call.ticked)];
    const faults = settingsFaults(shown, await listCurrencies(ctx));
    if (Object.keys(faults).length > 0) return showPartner(ctx, call, partner, { first, shown, faults });
    await setPartnerSettings(ctx, call.actor, partner.slug, changedSettings(first, shown));
    return call.done(pathOf(partner.slug), 'saved');
  });
  pages.form({ url: `${page}/switch`, fresh: 'always' }, async (call) => {
    const [slug, to] = [call.param('slug'), oneOf(switchStates, call.typed('to'))];
    if (!to) return sendNotFound(call.reply);
    const done = await setPartnerDisabled(ctx, call.actor, slug, to === 'off');
    return done ? call.done(pathOf(slug), to) : sendNotFound(call.reply);
  });
}

const switchStates = ['off', 'on'] as const;
const initial: Settings = {
  name: '',
  currency: 'EUR',
  allowed_expiry_minutes: [...expiryMinutes],
  default_expiry_minutes: defaultExpiryMinutes,
  email: null,
};

const asWanted = (slug: string, form: Settings): NewPartner => ({
  slug,
  name: form.name,
  currency: form.currency,
  allowedExpiryMinutes: form.allowed_expiry_minutes,
  defaultExpiryMinutes: form.default_expiry_minutes,
  email: form.email,
});

/** Creates the partner; `slugTaken` if another partner has its slug. */
async function make(ctx: Context, call: AdminCall, slug: string, form: Settings): Promise<'slugTaken' | false> {
  try {
    await createPartner(ctx, call.actor, asWanted(slug, form));
    return false;
  } catch (error) {
    if (error instanceof SlugTaken) return 'slugTaken';
    throw error;
  }
}

type NewForm = {
  slug: string;
  shown: Settings;
  faults?: SettingsFaults;
  slugFault?: 'slugRule' | 'slugReserved' | 'slugTaken' | false;
};

async function showNew(ctx: Context, call: AdminCall, status: number, sent: NewForm) {
  const { slug, shown, faults = {}, slugFault } = sent;
  const { partners: t } = adminTexts(call.words);
  const slugField = field({
    name: 'slug',
    label: t.slug,
    value: slug,
    hint: t.slugRule,
    fault: slugFault ? fill(t[slugFault], { slug }) : undefined,
    attributes: 'required maxlength="40" autocapitalize="none"',
  });
  return call.show({
    path: newPath,
    status,
    title: t.add,
    body: html`
      <div class="narrow">
        ${card(
          form({
            action: newPath,
            inside: html`${slugField}${settingsFields(call.words, shown, await listCurrencies(ctx), faults, null)}`,
            submit: t.create,
          }),
        )}
      </div>
    `,
  });
}

async function showPartner(
  ctx: Context,
  call: AdminCall,
  partner: Partner,
  wrong?: { first: ShownSettings; shown: Settings; faults: SettingsFaults },
) {
  const { words } = call;
  const { first, shown, faults } = wrong ?? { first: shownSettings(partner), shown: partner, faults: {} };
  const admin = adminTexts(words);
  const { partners: t } = admin;
  const path = pathOf(partner.slug);
  const isOn = partner.disabled_at === null;
  const notices = { created: t.created, saved: t.saved, off: t.switchedOff, on: t.switchedOn };
  const link = (to: string, label: string) =>
    html`<a href="${linkWith(to, {}, { partner: partner.slug })}">${label}</a>`;
  const turn = isOn
    ? confirmButton(
        {
          label: admin.switchOff,
          title: fill(t.offTitle, { name: partner.name }),
          consequence: t.offRest,
          action: `${path}/switch`,
          danger: true,
        },
        hiddenField('to', 'off'),
      )
    : form({ action: `${path}/switch`, hidden: { to: 'on' }, submit: admin.switchOn });
  return call.show({
    path,
    status: wrong ? 400 : 200,
    title: partner.name,
    body: html`
      ${!wrong && flashOf(call, { done: notices })}
      ${card(
        descriptionList([
          copyableFact(words, t.slug, partner.slug),
          [admin.state, onOff(words, isOn)],
          [admin.created, instant(words, partner.created_at)],
        ]),
        html`
          <p>
            <a href="${path}/activity">${t.activity}</a> · ${link('/admin/users', t.people)}
            ${' · '}
            ${link('/admin/merchants', t.merchants)} · ${link('/admin/audit', t.log)}
          </p>
        `,
        turn,
      )}
      <div class="narrow">
        ${card(html`
          <h2>${t.settings}</h2>
          <p class="quiet">${t.settingsRest}</p>
          ${form({
            action: `${path}/settings`,
            inside: settingsFields(words, shown, await listCurrencies(ctx), faults, first),
            submit: admin.save,
          })}
        `)}
      </div>
    `,
  });
}
