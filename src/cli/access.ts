import { readFile, stat } from 'node:fs/promises';
import { createApiKey, listApiKeys, maxKeyName, revokeApiKey, type ScopeName, scopeNames } from '../auth/api-keys.ts';
import { scopeOf, scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { isUuid } from '../lib/ids.ts';
import { currencyExponent } from '../lib/money.ts';
import { parseInstant } from '../lib/time.ts';
import { setMerchantDisabled } from '../merchants/disable.ts';
import { setBranding } from '../partners/branding.ts';
import { setPartnerEmail } from '../partners/contact.ts';
import { createPartner } from '../partners/create.ts';
import { logoPath, logoTooLarge, maxLogoBytes } from '../partners/logo.ts';
import { defaultExpiryMinutes, expiryMinutes } from '../partners/rules.ts';
import { setPartnerDisabled } from '../partners/settings.ts';
import type { Partner } from '../partners/store.ts';
import { isKnownCurrency } from '../rates/read.ts';
import { commandLine, mustReadPartner, unknownPartner } from './actor.ts';
import { type Arguments, type Command, option, optionalOption, testModeOption, UsageFault, word } from './command.ts';
import { recoveryCommands } from './recovery.ts';

const view = ({ disabled_at, logo_hash, ...partner }: Partner) => ({
  partner: {
    ...partner,
    created_at: partner.created_at.toISOString(),
    disabled: disabled_at !== null,
    logo_path: logoPath({ slug: partner.slug, logo_hash }),
  },
});

async function create(ctx: Context, args: Arguments) {
  const { expiry, 'default-expiry': wanted } = args.options;
  const allowed = typeof expiry === 'string' ? expiry.split(',').map(Number) : [...expiryMinutes];
  const fallback = allowed.includes(defaultExpiryMinutes) ? defaultExpiryMinutes : (allowed[0] ?? 0);
  const slug = word(args, 0, 'The slug');
  const name = option(args, 'name');
  const currency = option(args, 'currency');
  if (currencyExponent(currency) === null) {
    throw new Error(`"${currency}" is not a currency: give an ISO 4217 code in upper case, like EUR.`);
  }
  if (!(await isKnownCurrency(ctx.db, currency))) {
    throw new Error(
      `There is no rate for "${currency}" yet; see rate list, or set one with rate set ${currency} <rate>.`,
    );
  }
  const wish = {
    slug,
    name,
    currency,
    allowedExpiryMinutes: allowed,
    defaultExpiryMinutes: wanted === undefined ? fallback : Number(wanted),
    email: clearable(args, 'email') ?? null,
  };
  return view(await createPartner(ctx, commandLine, wish));
}

const switchPartner = (disabled: boolean) => async (ctx: Context, args: Arguments) => {
  const slug = word(args, 0, 'The slug');
  const done = await setPartnerDisabled(ctx, commandLine, slug, disabled);
  if (!done) throw unknownPartner(slug);
  return view(done);
};

async function email(ctx: Context, args: Arguments) {
  const slug = word(args, 0, 'The slug');
  const address = word(args, 1, 'The address');
  const wanted = address === 'none' ? null : address;
  const partner = await setPartnerEmail(ctx, commandLine, slug, wanted);
  if (!partner) throw unknownPartner(slug);
  return view(partner);
}

/** The value of an optional option: undefined if it is left out, null for `none`. */
function clearable(args: Arguments, name: string): string | null | undefined {
  if (args.options[name] === undefined) return undefined;
  const value = option(args, name);
  return value === 'none' ? null : value;
}

/** The content of a logo's file. Throws a sentence if there is no such file, or if it is too large. */
async function readLogoFile(path: string): Promise<Buffer> {
  const file = await stat(path).catch(() => null);
  if (!file?.isFile()) throw new Error(`There is no file "${path}".`);
  if (file.size > maxLogoBytes) throw logoTooLarge(file.size);
  return readFile(path);
}

async function changeBranding(ctx: Context, args: Arguments) {
  const slug = word(args, 0, 'The slug');
  const { name } = args.options;
  const accent = clearable(args, 'accent');
  const logo = clearable(args, 'logo');
  const wanted = {
    ...(name !== undefined && { name: option(args, 'name') }),
    ...(accent !== undefined && { accent }),
    ...(logo !== undefined && { logo: logo === null ? null : await readLogoFile(logo) }),
  };
  const partner = await setBranding(ctx, commandLine, slug, wanted);
  if (!partner) throw unknownPartner(slug);
  return view(partner);
}

const switchMerchant = (disabled: boolean) => async (ctx: Context, args: Arguments) => {
  const id = word(args, 0, 'The account ID');
  const scope = isUuid(id) ? await scopeOfMerchant(ctx.db, id) : null;
  if (!scope) throw new Error(`There is no merchant "${id}".`);
  await setMerchantDisabled(ctx, commandLine, scope, { accountId: id, by: 'operator', disabled });
  return { account_id: id, disabled_by_operator: disabled };
};

async function createKey(ctx: Context, args: Arguments) {
  const partner = await mustReadPartner(ctx, option(args, 'partner'));
  const wanted =
    typeof args.options.scopes === 'string'
      ? args.options.scopes.split(',').map((name) => name.trim())
      : [...scopeNames];
  const unknown = wanted.filter((name) => !scopeNames.includes(name as ScopeName));
  if (unknown.length > 0)
    throw new Error(
      `Unknown scopes: ${unknown.map((name) => `"${name}"`).join(', ')}. The known scopes are ${scopeNames.join(', ')}.`,
    );
  const scope = scopeOf(partner.id, testModeOption(args));
  const name = optionalOption(args, 'name');
  if (name !== null && (name.trim() === '' || [...name].length > maxKeyName))
    throw new UsageFault(`--name must have 1 to ${maxKeyName} characters.`);
  const endsAt = args.options.until === undefined ? null : parseInstant(option(args, 'until'));
  if (args.options.until !== undefined && (endsAt === null || endsAt <= ctx.clock.now()))
    throw new UsageFault('--until must be a time in the future, like 2027-01-31T12:00:00Z.');
  return createApiKey(ctx, commandLine, scope, { scopes: wanted as ScopeName[], name, endsAt, formKey: null });
}

async function revokeKey(ctx: Context, args: Arguments) {
  const id = word(args, 0, 'The key ID');
  const revoked = isUuid(id) ? await revokeApiKey(ctx, commandLine, id) : null;
  if (!revoked) throw new Error(`There is no key "${id}"; see key list.`);
  return { key_id: id, revoked: true };
}

/** Commands for partners, their keys, and the operator's switches. */
export const accessCommands: Command[] = [
  {
    name: 'partner create',
    usage: '<slug> --name N --currency EUR [--expiry 5,15,60] [--default-expiry 15] [--email A]',
    summary:
      'Creates a partner. --expiry lists the expiry times, in minutes, that its requests may have; --default-expiry applies to requests that name none.',
    run: create,
  },
  {
    name: 'partner email',
    usage: '<slug> <address>|none',
    summary:
      'Sets the e-mail address to notify when the partner must act, for example when its webhook endpoint is disabled.',
    run: email,
  },
  {
    name: 'partner look',
    usage: '<slug> [--name N] [--accent "#0a7"|none] [--logo FILE|none]',
    summary: 'Sets the name, accent colour and logo (PNG, JPEG or WebP, at most 64 KiB) of a partner’s pages.',
    run: changeBranding,
  },
  {
    name: 'partner disable',
    usage: '<slug>',
    summary: 'Disables a partner: calls with its keys are refused.',
    run: switchPartner(true),
  },
  { name: 'partner enable', usage: '<slug>', summary: 'Enables a disabled partner.', run: switchPartner(false) },
  {
    name: 'key create',
    usage: '--partner <slug> --mode test|live [--scopes a,b] [--name N] [--until <time>]',
    summary: `Creates an API key and shows it once. It has all scopes, or those that --scopes names: ${scopeNames.join(', ')}. --until sets when it expires.`,
    run: createKey,
  },
  {
    name: 'key list',
    usage: '--partner <slug>',
    summary: 'Lists a partner’s keys without their values.',
    run: async (ctx, args) => ({
      keys: await listApiKeys(ctx.db, (await mustReadPartner(ctx, option(args, 'partner'))).id),
    }),
  },
  { name: 'key revoke', usage: '<key_id>', summary: 'Revokes a key immediately.', run: revokeKey },
  {
    name: 'merchant disable',
    usage: '<account_id>',
    summary: 'Disables a merchant as the operator: no new requests can be created.',
    run: switchMerchant(true),
  },
  {
    name: 'merchant enable',
    usage: '<account_id>',
    summary: 'Enables a merchant that the operator disabled.',
    run: switchMerchant(false),
  },
  ...recoveryCommands,
];
