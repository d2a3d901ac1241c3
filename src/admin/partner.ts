import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/html.ts';
import { createPartner } from '../partners/create.ts';
import { type Partner, readPartner, setPartnerDisabled } from '../partners/read.ts';
import { defaultExpiryMinutes, expiryMinutes, type NewPartner } from '../partners/rules.ts';
import { setPartnerSettings } from '../partners/settings.ts';
import { isKnownCurrency } from '../rates/known.ts';
import { card, carried, facts, field } from '../ui/components.ts';
import { sendNotFound } from '../ui/error-page.ts';
import { instant } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';
import { notice } from '../ui/shell.ts';
import { confirmed, linkWith } from '../ui/table.ts';
import { onOff } from './partners.ts';
import { type AdminCall, adminForm, adminPage, flash, recorded } from './route.ts';

const newPath = '/admin/new-partner';
const pathOf = (slug: string) => `/admin/partners/${slug}`;

/** What is typed of a partner, as it stands in the fields. */
type Typed = Record<'slug' | 'name' | 'currency' | 'expiry' | 'fallback' | 'email', string>;

/** One partner: made, shown, set and switched off. */
export function partnerPages(app: FastifyInstance, ctx: Context): void {
  adminPage(app, ctx, newPath, async (call) => showNew(call, 200, initial, null));
  adminForm(app, ctx, newPath, async (call) => {
    const typed = typedOf(call, call.typed('slug'));
    const fault = await save(ctx, call, typed, 'create');
    return fault === null ? call.done(pathOf(typed.slug), 'created') : showNew(call, 400, typed, fault);
  });

  const page = `${pathOf(':slug')}`;
  adminPage(app, ctx, page, async (call) => {
    const partner = await readPartner(ctx.db, call.param('slug'));
    return partner ? showPartner(call, 200, partner, asTyped(partner), null) : sendNotFound(call.reply);
  });
  adminForm(app, ctx, `${page}/settings`, async (call) => {
    const partner = await readPartner(ctx.db, call.param('slug'));
    if (!partner) return sendNotFound(call.reply);
    const typed = typedOf(call, partner.slug);
    const fault = await save(ctx, call, typed, 'change');
    return fault === null ? call.done(pathOf(partner.slug), 'saved') : showPartner(call, 400, partner, typed, fault);
  });
  adminForm(app, ctx, `${page}/switch`, async (call) => {
    const [slug, off] = [call.param('slug'), call.typed('to') === 'off'];
    const partner = await recorded(
      ctx,
      call,
      (inner) => setPartnerDisabled(inner.db, slug, off),
      (turned) => turned && { ...onPartner(turned), action: off ? 'partner.disabled' : 'partner.enabled', details: {} },
    );
    return partner ? call.done(pathOf(slug), off ? 'off' : 'on') : sendNotFound(call.reply);
  });
}

const initial: Typed = {
  slug: '',
  name: '',
  currency: 'EUR',
  expiry: expiryMinutes.join(', '),
  fallback: String(defaultExpiryMinutes),
  email: '',
};

const asTyped = (partner: Partner): Typed => ({
  slug: partner.slug,
  name: partner.name,
  currency: partner.currency,
  expiry: partner.allowed_expiry_minutes.join(', '),
  fallback: String(partner.default_expiry_minutes),
  email: partner.email ?? '',
});

const typedOf = ({ typed }: AdminCall, slug: string): Typed => ({
  slug,
  name: typed('name').slice(0, 200),
  currency: typed('currency').toUpperCase(),
  expiry: typed('expiry'),
  fallback: typed('fallback'),
  email: typed('email'),
});

const numbersOf = (text: string) =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);

const onPartner = ({ id, slug }: Partner) => ({
  partnerId: id,
  testMode: null,
  object: { kind: 'partner' as const, id: slug },
});

/** Returns the sentence that says why nothing was saved; null when all is well. */
async function save(ctx: Context, call: AdminCall, typed: Typed, how: 'create' | 'change'): Promise<string | null> {
  const { partners: t } = call.words.t.admin;
  const { slug, name, currency } = typed;
  if (!(await isKnownCurrency(ctx.db, currency))) return fill(t.currencyUnknown, { code: currency });
  const wanted: NewPartner = {
    slug,
    name,
    currency,
    allowedExpiryMinutes: numbersOf(typed.expiry),
    defaultExpiryMinutes: Number(typed.fallback),
    email: typed.email === '' ? null : typed.email,
  };
  const details = {
    name,
    currency,
    expiry_minutes: wanted.allowedExpiryMinutes.join(', '),
    default_expiry_minutes: wanted.defaultExpiryMinutes,
    email: wanted.email,
  };
  try {
    if (how === 'create') {
      await recorded(
        ctx,
        call,
        (inner) => createPartner(inner.db, wanted),
        (made) => ({ ...onPartner(made), action: 'partner.created', details: { slug, currency } }),
      );
      return null;
    }
    await recorded(
      ctx,
      call,
      async (inner) => ((await setPartnerSettings(inner.db, wanted)) ? readPartner(inner.db, slug) : null),
      (changed) => changed && { ...onPartner(changed), action: 'partner.changed', details },
    );
    return null;
  } catch (error) {
    // What the noun refuses it says in a sentence of its own; anything else is a fault of ours.
    if ((error as Error).constructor !== Error) throw error;
    return fill(t.fault, { why: (error as Error).message });
  }
}

function showNew(call: AdminCall, status: number, typed: Typed, fault: string | null) {
  const { partners: t } = call.words.t.admin;
  const slug = field({
    name: 'slug',
    label: t.slug,
    value: typed.slug,
    hint: t.slugRule,
    attributes: 'required maxlength="40" autocapitalize="none"',
  });
  return call.show({
    path: newPath,
    status,
    title: t.add,
    body: html`${fault !== null && notice('attention', fault)}
${card(html`<form method="post" action="${newPath}">${slug}${fieldsOf(call.words, typed)}<button>${t.create}</button></form>`)}`,
  });
}

function fieldsOf({ t: { admin } }: Words, typed: Typed): Html {
  const { partners: t } = admin;
  const rule = fill(t.expiryRule, { values: expiryMinutes.join(', ') });
  return html`${field({ name: 'name', label: t.name, value: typed.name, attributes: 'required maxlength="200"' })}
${field({ name: 'currency', label: t.currency, value: typed.currency, hint: t.currencyRule, attributes: 'required maxlength="3"' })}
${field({ name: 'expiry', label: t.expiry, value: typed.expiry, hint: rule, attributes: 'required maxlength="200"' })}
${field({ name: 'fallback', label: t.fallback, value: typed.fallback, hint: t.fallbackRule, attributes: 'required inputmode="numeric" maxlength="5"' })}
${field({ name: 'email', label: t.email, value: typed.email, hint: t.emailRule, attributes: 'type="email" maxlength="254"' })}`;
}

function showPartner(call: AdminCall, status: number, partner: Partner, typed: Typed, fault: string | null) {
  const { words } = call;
  const { admin } = words.t;
  const { partners: t } = admin;
  const path = pathOf(partner.slug);
  const isOn = partner.disabled_at === null;
  const said = { created: t.created, saved: t.saved, off: t.switchedOff, on: t.switchedOn };
  const link = (to: string, label: string) =>
    html`<a href="${linkWith(to, {}, { partner: partner.slug })}">${label}</a>`;
  const turn = isOn
    ? confirmed(
        {
          label: admin.switchOff,
          title: fill(t.offTitle, { name: partner.name }),
          consequence: t.offRest,
          action: `${path}/switch`,
          danger: true,
        },
        carried('to', 'off'),
      )
    : html`<form method="post" action="${path}/switch">${carried('to', 'on')}<button>${admin.switchOn}</button></form>`;
  return call.show({
    path,
    status,
    title: partner.name,
    body: html`${fault === null ? flash(call, said) : notice('attention', fault)}
${card(
  facts([
    [t.slug, partner.slug],
    [admin.state, onOff(words, isOn)],
    [admin.created, instant(words, partner.created_at)],
  ]),
  html`<p>${link('/admin/users', t.people)} · ${link('/admin/merchants', t.merchants)} · ${link('/admin/audit', t.log)}</p>`,
  turn,
)}
${card(html`<h2>${t.settings}</h2><p class="quiet">${t.settingsRest}</p>
<form method="post" action="${path}/settings">${fieldsOf(words, typed)}<button>${admin.save}</button></form>`)}`,
  });
}
