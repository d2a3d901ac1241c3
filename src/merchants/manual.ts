import { createHash, randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { compileCheck } from '../auth/validate.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { uuidOfVersion } from '../lib/ids.ts';
import { isKnownCurrency } from '../rates/read.ts';
import { CreateMerchant } from './contract.ts';
import { createShellOnce, valueFaults } from './create.ts';
import type { MerchantView } from './store.ts';

/** The fields of a merchant that a person types; an absent field was left empty. */
export type ManualFields = {
  business_name?: string;
  display_name?: string;
  email?: string;
  country?: string;
  app_mode?: 'personal' | 'business';
  display_currency: string;
};

const checkFields = compileCheck(CreateMerchant);

/**
 * The merchant's id follows from the form, so that a form that is sent twice, even at once, creates one merchant.
 * Nobody chooses it: it is a hash, and within the scope.
 */
function idOfForm({ partnerId, testMode }: Scope, formKey: string): string {
  const hash = createHash('sha256').update(JSON.stringify(['merchant form', partnerId, testMode, formKey]));
  return uuidOfVersion(8, hash.digest()); // for ids of an application's own making
}

/**
 * Creates a merchant manually, without a wallet, by the same rules as the API.
 *
 * @param formKey by which a form that is sent again is recognised; null for none
 * @returns the names of invalid fields, if nothing was created
 */
export async function createMerchantManually(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  fields: ManualFields,
  formKey: string | null,
): Promise<{ row: MerchantView; repeated: boolean } | { faults: string[] }> {
  const known = checkFields(fields);
  const faults = [...known, ...valueFaults(fields, known)].map(({ field }) => field);
  if (!(await isKnownCurrency(ctx.db, fields.display_currency))) faults.push('display_currency');
  if (faults.length > 0) return { faults };
  return createShellOnce(ctx, actor, scope, formKey === null ? randomUUID() : idOfForm(scope, formKey), fields);
}
