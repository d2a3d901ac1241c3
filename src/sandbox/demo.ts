import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { theService } from '../audit/write.ts';
import { createApiKey, listApiKeys, usualKey } from '../auth/api-keys.ts';
import { scopeOf } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { replaceFile } from '../lib/files.ts';
import { createShell } from '../merchants/create.ts';
import { createPartner } from '../partners/create.ts';
import { readPartner } from '../partners/read.ts';
import { expiryMinutes } from '../partners/rules.ts';
import type { Partner } from '../partners/store.ts';
import { onboardWithKey } from './onboard.ts';

/**
 * The partner, keys and merchants that the sandbox starts with. They are kept in the data folder, because the database
 * stores only hashes of keys.
 */
export type Demo = {
  partner: string;
  test_key: string;
  live_key: string;
  test_key_id: string;
  merchant: string;
  incomplete_merchant: string;
};

const slug = 'demo';

/** Creates the demo partner with its keys and merchants at the first start; later returns the stored ones. */
export async function seedDemo(ctx: Context): Promise<Demo> {
  const partner = await readPartner(ctx.db, slug);
  const kept = partner && (await readDemo(ctx, partner));
  if (kept) return kept;
  // Nothing else makes the folder where database, chains and secret keys are all configured.
  mkdirSync(ctx.config.dataDir, { recursive: true });
  const { id } = partner ?? (await makePartner(ctx));
  const test = scopeOf(id, true);
  const testKey = await makeKey(ctx, test);
  const liveKey = await makeKey(ctx, scopeOf(id, false));
  const merchant = await createShell(ctx, theService, test, {
    business_name: 'Ada’s Bakery',
    country: 'DE',
    display_currency: 'EUR',
  });
  await onboardWithKey(ctx, merchant.id);
  const shell = await makeIncompleteMerchant(ctx, test);
  const demo: Demo = {
    partner: slug,
    test_key: testKey.key,
    live_key: liveKey.key,
    test_key_id: testKey.key_id,
    merchant: merchant.id,
    incomplete_merchant: shell.id,
  };
  replaceFile(demoFile(ctx), JSON.stringify(demo, null, 2), 0o600);
  return demo;
}

/** Creates a merchant that has not chosen its wallet or accepted the terms yet. */
export function makeIncompleteMerchant(ctx: Context, scope: Scope) {
  return createShell(ctx, theService, scope, { business_name: 'Corner Books', country: 'DE', display_currency: 'EUR' });
}

const demoFile = (ctx: Context) => join(ctx.config.dataDir, 'demo.json');

async function readDemo(ctx: Context, { id }: Partner): Promise<Demo | null> {
  const file = demoFile(ctx);
  if (!existsSync(file)) return null;
  const demo = JSON.parse(readFileSync(file, 'utf8')) as Demo;
  const keys = await listApiKeys(ctx.db, id);
  return keys.some((key) => key.key_id === demo.test_key_id) ? demo : null;
}

/** The demo partner in test mode, and its merchants. */
export type OpenDemo = {
  partner: Partner;
  scope: Scope;
  /** The merchant that can be paid. */
  merchant: string;
  incompleteMerchant: string;
};

/** The demo; null until the first start has created it. */
export async function openDemo(ctx: Context): Promise<OpenDemo | null> {
  const partner = await readPartner(ctx.db, slug);
  const demo = partner && (await readDemo(ctx, partner));
  if (!demo) return null;
  const { merchant, incomplete_merchant: incompleteMerchant } = demo;
  return { partner, scope: scopeOf(partner.id, true), merchant, incompleteMerchant };
}

function makeKey(ctx: Context, scope: Scope) {
  return createApiKey(ctx, theService, scope, usualKey);
}

const currency = 'EUR';
const wanted = {
  ...{ slug, name: 'Demo Platform', currency, email: 'demo@example.com' },
  allowedExpiryMinutes: [...expiryMinutes],
  defaultExpiryMinutes: 15,
};

async function makePartner(ctx: Context): Promise<Partner> {
  try {
    return await createPartner(ctx, theService, wanted);
  } catch (error) {
    const partner = await readPartner(ctx.db, slug);
    if (!partner) throw error;
    return partner; // another node that started at the same time has created it
  }
}
