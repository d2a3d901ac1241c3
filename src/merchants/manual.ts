import type { Actor } from '../audit/actions.ts';
import { compileCheck } from '../auth/validate.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isKnownCurrency } from '../rates/known.ts';
import { CreateMerchant } from './contract.ts';
import { createShell, valueFaults } from './create.ts';
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
 * Creates a merchant manually, without a wallet, by the same rules as the API.
 *
 * @returns the names of invalid fields, if nothing was created
 */
export async function createMerchantManually(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  fields: ManualFields,
): Promise<MerchantView | { faults: string[] }> {
  const known = checkFields(fields);
  const faults = [...known, ...valueFaults(fields, known)].map(({ field }) => field);
  if (!(await isKnownCurrency(ctx.db, fields.display_currency))) faults.push('display_currency');
  return faults.length > 0 ? { faults } : createShell(ctx, actor, scope, fields);
}
