import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { parseHex } from '../../lib/text/color.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type BrandingChange, invalidateBranding, setBranding } from '../../partners/branding.ts';
import { logoFrom } from '../../partners/logo.ts';
import { readPartner } from '../../partners/read.ts';
import { setPartnerSettings } from '../../partners/settings.ts';
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
import type { Partner } from '../../partners/store.ts';
import { listCurrencies } from '../../rates/list.ts';
import { portalTexts } from '../../texts/portal.ts';
import { form } from '../../ui/form.ts';
import { currentUser } from '../../users/current-user.ts';
import { portalRealm } from '../../users/realm.ts';
import { flashOf } from '../../web/flash.ts';
import { shownIn } from '../../web/shown.ts';
import { actionIn, declarePortalPages, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { brandingFields, chosenAccent } from './branding-fields.ts';
import { type MultipartFields, multipartFields, takeMultipart } from './multipart.ts';

const path = '/portal/settings';

/** `/portal/settings`: name, branding, currency, expiry times, and who is notified. They apply to both modes. */
export function settingsPages(app: FastifyInstance, pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'settings' }, async (call) => {
    const partner = await ownPartner(ctx, call);
    return showSettings(ctx, call, partner, {}, shownSettings(partner));
  });

  pages.form({ url: path, permission: 'settings', fresh: 'always' }, async (call) => {
    const before = await ownPartner(ctx, call);
    const [shown, typed] = [readShown(call.ticked), readSettings(call.typed, call.ticked)];
    const wanted = { ...before, ...typed };
    const faults = settingsFaults(wanted, await listCurrencies(ctx));
    if (Object.keys(faults).length > 0) return showSettings(ctx, call, wanted, faults, shown);
    await setPartnerSettings(ctx, call.actor, before.slug, changedSettings(shown, typed));
    invalidateBranding(ctx, before.id);
    return call.done(path, 'saved');
  });

  app.register(async (forms) => {
    takeMultipart(forms, async (request) => (await currentUser(ctx, portalRealm, request)) !== null);
    declarePortalPages(forms, ctx).form(
      { url: `${path}/look`, permission: 'settings', fresh: 'never' },
      async (call) => {
        const partner = await ownPartner(ctx, call);
        const fields = await multipartFields(call.request);
        if (fields === 'too_large') return showSettings(ctx, call, partner, { logo: true }, shownSettings(partner));
        const { wanted, faults } = readBrandingForm(partner, fields);
        if (Object.keys(faults).length > 0) {
          const shown = { ...partner, accent: accentIn(partner, fields) };
          return showSettings(ctx, call, shown, faults, shownSettings(partner));
        }
        if (Object.keys(wanted).length === 0) return call.done(path, 'unchanged');
        await setBranding(ctx, call.actor, partner.slug, wanted);
        invalidateBranding(ctx, partner.id);
        return call.done(path, 'saved');
      },
    );
  });
}

async function ownPartner(ctx: Context, { user }: PortalCall): Promise<Partner> {
  const partner = await readPartner(ctx.db, user.partner.slug);
  if (!partner) throw new Error('the partner of a session no longer exists'); // partners are never deleted
  return partner;
}

/** An empty colour removes the accent. The logo stays, unless a new one is chosen or its removal is ticked. */
function readBrandingForm(
  partner: Partner,
  fields: MultipartFields,
): { wanted: BrandingChange; faults: SettingsFaults } {
  const { logo } = fields;
  const accent = accentIn(partner, fields);
  const isChosen = Buffer.isBuffer(logo) && logo.length > 0;
  const faults: SettingsFaults = {
    ...(accent !== '' && parseHex(accent) === null && { accent: true }),
    ...(isChosen && !isLogo(logo) && { logo: true }),
  };
  const wanted: BrandingChange = {
    ...(fields.accent !== undefined && { accent: accent === '' ? null : accent }),
    ...(isChosen ? { logo } : fields.no_logo === 'yes' ? { logo: null } : {}),
  };
  return { wanted, faults };
}

function accentIn(partner: Partner, fields: MultipartFields): string {
  const sent = (name: string): string | undefined => {
    const value = fields[name];
    return typeof value === 'string' ? value : undefined;
  };
  const shown = shownIn(['accent'], sent).accent ?? partner.accent ?? '';
  return chosenAccent(shown, sent('accent')?.trim() ?? '', sent('accent_picked'));
}

function isLogo(bytes: Buffer): boolean {
  try {
    logoFrom(bytes);
    return true;
  } catch {
    return false; // the page states the rule
  }
}

async function showSettings(
  ctx: Context,
  call: PortalCall,
  shown: Partner,
  faults: SettingsFaults,
  first: ShownSettings,
): Promise<FastifyReply> {
  const { words, reply } = call;
  const { settings, places } = portalTexts(words);
  const codes = await listCurrencies(ctx);
  return sendPortal(ctx, reply, call, {
    path,
    title: places.settings,
    status: Object.keys(faults).length > 0 ? 400 : 200,
    body: html`
      ${flashOf(call, { done: { saved: settings.saved }, refused: { unchanged: settings.unchanged } })}
      <div class="two">${mainForm(call, shown, codes, faults, first)}${brandingForm(call, shown, faults)}</div>
    `,
  });
}

function mainForm(
  call: PortalCall,
  shown: Partner,
  codes: string[],
  faults: SettingsFaults,
  first: ShownSettings,
): Html {
  const { settings } = portalTexts(call.words);
  return form({
    action: actionIn(call, path),
    class: 'card',
    inside: html`<h2>${settings.main}</h2>${settingsFields(call.words, shown, codes, faults, first)}`,
    submit: settings.save,
  });
}

function brandingForm(call: PortalCall, shown: Partner, faults: SettingsFaults): Html {
  const { settings } = portalTexts(call.words);
  return html`
    <form class="card" method="post" action="${actionIn(call, `${path}/look`)}" enctype="multipart/form-data">
      <h2>${settings.branding}</h2>
      <p class="quiet">${settings.brandingRest}</p>
      ${brandingFields(call.words, shown, faults)}
      <button>${settings.save}</button>
    </form>
  `;
}
