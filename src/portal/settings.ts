import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Context } from '../context.ts';
import { parseHex } from '../lib/color.ts';
import { isOneAddress } from '../lib/email.ts';
import { type Html, html } from '../lib/html.ts';
import { setPartnerEmail } from '../partners/contact.ts';
import { logoFrom, logoPath } from '../partners/logo.ts';
import { forgetLook, setLook, type WantedLook } from '../partners/look.ts';
import { type Partner, readPartner } from '../partners/read.ts';
import { expiryMinutes } from '../partners/rules.ts';
import { setPartnerSettings } from '../partners/settings.ts';
import { listRates } from '../rates/list.ts';
import { field } from '../ui/components.ts';
import { formatRemaining } from '../ui/formats.ts';
import type { Texts } from '../ui/language.ts';
import { flashOf } from './flash.ts';
import { readMultipart } from './multipart.ts';
import { actionIn, doneAt, type PortalCall, portalForm, portalPage, recorded } from './route.ts';
import { sendPortal } from './shell.ts';

const path = '/portal/settings';
const maxName = 120;
const minuteMs = 60_000;

type Faults = Partial<Record<keyof Texts['portal']['settings']['faults'], true>>;

/** `/portal/settings`: name, look, currency, expiry values, and whom to tell. They hold in both modes. */
export function settingsPages(app: FastifyInstance, ctx: Context): void {
  portalPage(app, ctx, path, 'settings', async (call) => showSettings(ctx, call, await ownPartner(ctx, call), {}));

  portalForm(app, ctx, path, 'settings', async (call) => {
    const before = await ownPartner(ctx, call);
    const wanted = readForm(call, before);
    const faults = await faultsOf(ctx, wanted);
    if (Object.keys(faults).length > 0) return showSettings(ctx, call, wanted, faults);
    await recorded(
      ctx,
      call,
      async ({ db }) => {
        await setPartnerSettings(db, {
          ...wanted,
          allowedExpiryMinutes: wanted.allowed_expiry_minutes,
          defaultExpiryMinutes: wanted.default_expiry_minutes,
        });
        await setPartnerEmail(db, wanted.slug, wanted.email);
      },
      () => ({
        action: 'partner.changed',
        partnerId: wanted.id,
        testMode: null,
        object: { kind: 'partner', id: wanted.slug },
        details: changesOf(before, wanted),
      }),
    );
    forgetLook(ctx, wanted.id);
    return doneAt(call.reply, path, 'saved');
  });

  app.register(async (forms) => {
    readMultipart(forms);
    portalForm(forms, ctx, `${path}/look`, 'settings', async (call) => {
      const partner = await ownPartner(ctx, call);
      const { wanted, faults } = readLookForm(call);
      if (Object.keys(faults).length > 0) {
        return showSettings(ctx, call, { ...partner, accent: call.typed('accent') }, faults);
      }
      if (Object.keys(wanted).length === 0) return doneAt(call.reply, path, 'unchanged');
      await recorded(
        ctx,
        call,
        (inner) => setLook(inner.db, partner.slug, wanted),
        () => ({
          action: 'partner.changed',
          partnerId: partner.id,
          testMode: null,
          object: { kind: 'partner', id: partner.slug },
          details: {
            ...(wanted.accent !== undefined && { accent: wanted.accent }),
            ...(wanted.logo !== undefined && { logo: wanted.logo !== null }),
          },
        }),
      );
      forgetLook(ctx, partner.id);
      return doneAt(call.reply, path, 'saved');
    });
  });
}

async function ownPartner(ctx: Context, { user }: PortalCall): Promise<Partner> {
  const partner = await readPartner(ctx.db, user.partner.slug);
  if (!partner) throw new Error('the partner of a session vanished'); // partners are never deleted
  return partner;
}

function readForm({ typed, ticked }: PortalCall, before: Partner): Partner {
  return {
    ...before,
    name: typed('name'),
    currency: typed('currency'),
    allowed_expiry_minutes: expiryMinutes.filter((minutes) => ticked('expiry').includes(String(minutes))),
    default_expiry_minutes: Number(typed('default_expiry')),
    email: typed('email') || null,
  };
}

async function faultsOf(ctx: Context, wanted: Partner): Promise<Faults> {
  const { name, currency, email, allowed_expiry_minutes: allowed, default_expiry_minutes: standard } = wanted;
  const known = (await listRates(ctx)).some(({ code }) => code === currency);
  return {
    ...((name === '' || [...name].length > maxName) && { name: true }),
    ...(!known && { currency: true }),
    ...(allowed.length === 0 && { expiry: true }),
    ...(allowed.length > 0 && !allowed.includes(standard) && { default_expiry: true }),
    ...(email !== null && !isOneAddress(email) && { email: true }),
  };
}

function changesOf(before: Partner, after: Partner) {
  const isSame = before.allowed_expiry_minutes.join() === after.allowed_expiry_minutes.join();
  return {
    ...(before.name !== after.name && { name: after.name }),
    ...(before.currency !== after.currency && { currency: after.currency }),
    ...(!isSame && { expiry_minutes: after.allowed_expiry_minutes.map(String) }),
    ...(before.default_expiry_minutes !== after.default_expiry_minutes && {
      default_expiry_minutes: after.default_expiry_minutes,
    }),
    ...(before.email !== after.email && { email: after.email }),
  };
}

/** A colour that is left empty is taken away; a logo that is not chosen stays, unless it is to go. */
function readLookForm({ typed, request }: PortalCall): { wanted: WantedLook; faults: Faults } {
  const body = (request.body ?? {}) as Record<string, unknown>;
  const { logo } = body;
  const accent = typed('accent');
  const isChosen = Buffer.isBuffer(logo) && logo.length > 0;
  const faults: Faults = {
    ...(accent !== '' && parseHex(accent) === null && { accent: true }),
    ...(isChosen && !isLogo(logo) && { logo: true }),
  };
  const wanted: WantedLook = {
    ...(body.accent !== undefined && { accent: accent === '' ? null : accent }),
    ...(isChosen ? { logo } : typed('no_logo') === 'yes' ? { logo: null } : {}),
  };
  return { wanted, faults };
}

function isLogo(bytes: Buffer): boolean {
  try {
    logoFrom(bytes);
    return true;
  } catch {
    return false; // the page says the rule
  }
}

async function showSettings(ctx: Context, call: PortalCall, shown: Partner, faults: Faults): Promise<FastifyReply> {
  const { words, reply } = call;
  const { settings, places } = words.t.portal;
  const codes = (await listRates(ctx)).map(({ code }) => code);
  return sendPortal(ctx, reply, call, {
    path,
    title: places.settings,
    status: Object.keys(faults).length > 0 ? 400 : 200,
    body: html`${flashOf(call, { done: { saved: settings.saved }, refused: { unchanged: settings.unchanged } })}
<div class="two">${mainForm(call, shown, codes, faults)}${lookForm(call, shown, faults)}</div>`,
  });
}

function mainForm(call: PortalCall, shown: Partner, codes: string[], faults: Faults): Html {
  const { words } = call;
  const { settings } = words.t.portal;
  const fault = (name: keyof Faults) => (faults[name] ? settings.faults[name] : undefined);
  const said = (name: keyof Faults) => faults[name] && html`<p class="fault" role="alert">${settings.faults[name]}</p>`;
  const span = (minutes: number) => formatRemaining(words, minutes * minuteMs);
  const boxes = expiryMinutes.map(
    (minutes) =>
      html`<label class="check"><input type="checkbox" name="expiry" value="${minutes}"${shown.allowed_expiry_minutes.includes(minutes) && html` checked`}><span>${span(minutes)}</span></label>`,
  );
  const option = (value: string, label: string, chosen: boolean) =>
    html`<option value="${value}"${chosen && html` selected`}>${label}</option>`;
  return html`<form class="card" method="post" action="${actionIn(call, path)}"><h2>${settings.main}</h2>
${field({ name: 'name', label: settings.name, hint: settings.nameRest, value: shown.name, fault: fault('name'), attributes: `required maxlength="${maxName}"` })}
<div class="field"><label for="currency">${settings.currency}</label><p class="quiet" id="currency-hint">${settings.currencyRest}</p>
<select id="currency" name="currency" aria-describedby="currency-hint">${codes.map((code) => option(code, code, code === shown.currency))}</select>${said('currency')}</div>
<fieldset class="boxes"><legend>${settings.expiry}</legend><p class="quiet">${settings.expiryRest}</p>${boxes}${said('expiry')}</fieldset>
<div class="field"><label for="default_expiry">${settings.defaultExpiry}</label>
<select id="default_expiry" name="default_expiry">${expiryMinutes.map((minutes) => option(String(minutes), span(minutes), minutes === shown.default_expiry_minutes))}</select>${said('default_expiry')}</div>
${field({ name: 'email', label: settings.email, hint: settings.emailRest, value: shown.email, fault: fault('email'), attributes: 'type="email" maxlength="254" autocomplete="off"' })}
<button>${settings.save}</button></form>`;
}

function lookForm(call: PortalCall, shown: Partner, faults: Faults): Html {
  const { settings } = call.words.t.portal;
  const logo = logoPath(shown);
  const fault = (name: keyof Faults) => (faults[name] ? settings.faults[name] : undefined);
  return html`<form class="card" method="post" action="${actionIn(call, `${path}/look`)}" enctype="multipart/form-data"><h2>${settings.look}</h2>
<p class="quiet">${settings.lookRest}</p>
${field({ name: 'accent', label: settings.accent, hint: settings.accentRest, value: shown.accent, fault: fault('accent'), attributes: 'maxlength="7" autocomplete="off" spellcheck="false" placeholder="#0a7"' })}
${logo && html`<p><img class="logo" src="${logo}" alt="${settings.logo}" height="40"></p>`}
${field({ name: 'logo', label: settings.logo, hint: settings.logoRest, fault: fault('logo'), attributes: `type="file" accept="image/png,image/jpeg,image/webp"` })}
${logo && html`<label class="check"><input type="checkbox" name="no_logo" value="yes"><span>${settings.noLogo}</span></label>`}
<button>${settings.save}</button></form>`;
}
