import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { MerchantRefusal } from '../../src/merchants/refusal.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { changeWallet } from '../../src/wallets/change.ts';
import { at } from './seeded-choices.ts';
import { addCoin, chainOf, type Merchant, type Stage, type Wallet } from './stage.ts';

/** Wallets go from merchant to merchant, also of another partner, and back. */

/** How many merchants of a partner are asked to be paid at a time. */
const maxMerchants = 9;
/** These stay: among them are those with contract wallets. */
const firstMerchants = 4;
/** Merchants take one of so many wallets, so that one often had another's before, and its own again. */
const inTurn = 6;

/** A merchant takes another wallet. Its open requests are still paid to the one that they were created with. */
export async function moveWallet(stage: Stage, [who = 0, which = 0, whose = 0]: readonly number[]): Promise<boolean> {
  const partner = at(stage.partners, whose);
  const merchant = at(partner?.merchants ?? [], who);
  if (!partner || !merchant) return false;
  const next = which < 0.5 ? await makeWallet(stage) : at(stage.wallets.slice(-inTurn), 2 * which - 1);
  if (!next) return false;
  const { wallet: oldWallet } = await readMerchant(stage, merchant);
  if (oldWallet === null) return false;
  await stage.database.owner`delete from day_counters where action = 'wallet_change'`; // as on another day
  const newWallet = { address: next.address, chainIds: next.isOn && [chainOf(stage, next.isOn).chainId] };
  return isStillClaimed(
    changeWallet(stage.ctx, theService, partner.scope, merchant.id, { oldWallet, newWallet, messages: [] }),
  );
}

/**
 * A merchant without money is returned to the start of onboarding, and takes another wallet; the one that it had is
 * free for others. Now and then a new merchant comes instead.
 */
export async function resetMerchant(
  stage: Stage,
  [which = 0, whose = 0, how = 0]: readonly number[],
): Promise<boolean> {
  const partner = at(stage.partners, whose);
  if (!partner) return false;
  const { scope, merchants } = partner;
  const paid = new Set(stage.model.payments.map(({ order }) => order.merchant));
  const merchant = at(
    merchants.filter((one) => !paid.has(one) && !one.isReset),
    which,
  );
  if (merchant && how < 0.7) return (await reset(stage, scope, merchant)) && onboard(stage, merchant, which);
  const { id } = await createShell(stage.ctx, theService, scope, { display_currency: 'EUR' });
  const added = { id, isReset: true };
  merchants.push(added);
  const oldest = merchants.findIndex((one, i) => i >= firstMerchants && !one.isReset);
  if (merchants.length > maxMerchants && oldest >= 0) merchants.splice(oldest, 1);
  return onboard(stage, added, which);
}

/** Resets a merchant. Its requests are voided, if that was done: who cancels them again is told. */
async function reset(stage: Stage, scope: Scope, merchant: Merchant): Promise<boolean> {
  const doubt = () => {
    const open = stage.model.orders.filter((order) => order.merchant === merchant && order.cancelled === 'no');
    for (const order of open) order.cancelled = 'unsure';
    return open;
  };
  const doubted = doubt();
  merchant.isReset = true; // unless the answer says otherwise
  const wasReset = await resetOnboarding(stage.ctx, theService, scope, merchant.id);
  if (wasReset) doubt();
  else for (const order of doubted) order.cancelled = 'no';
  merchant.isReset = wasReset;
  return wasReset;
}

/** A merchant finishes its onboarding: with a wallet that others had, if it is free now, otherwise with a new one. */
async function onboard(stage: Stage, merchant: Merchant, which: number): Promise<boolean> {
  const { isOnboarded } = await readMerchant(stage, merchant);
  if (!isOnboarded) {
    const used = at(stage.wallets.slice(-inTurn), which);
    const take = ({ privateKey }: Wallet) =>
      privateKey !== null && isStillClaimed(onboardWithKey(stage.ctx, merchant.id, privateKey));
    if (!(used && (await take(used))) && !(await take(await makeWallet(stage)))) return false;
  }
  merchant.isReset = false;
  return true;
}

async function makeWallet({ chain, wallets }: Stage): Promise<Wallet> {
  const wallet = { ...chain.wallet(), isOn: null };
  await chain.alone(() => addCoin(chain, wallet.address));
  wallets.push(wallet);
  return wallet;
}

/** Merchants whose onboarding was interrupted finish it. */
export async function finishOnboarding(stage: Stage, turn: number): Promise<void> {
  for (const { merchants } of stage.partners)
    for (const merchant of merchants.filter(({ isReset }) => isReset))
      await onboard(stage, merchant, (turn * 0.37) % 1);
}

/** Whether a wallet was taken; false if it belongs to another merchant, or the merchant took one meanwhile. */
async function isStillClaimed(taking: Promise<unknown>): Promise<boolean> {
  try {
    await taking;
    return true;
  } catch (error) {
    if (error instanceof MerchantRefusal && ['wallet_taken', 'wallet_same', 'message_used'].includes(error.reason))
      return false;
    throw error;
  }
}

/** What an earlier attempt without an answer has done is not known, so the database is asked. */
async function readMerchant(
  { database }: Stage,
  { id }: Merchant,
): Promise<{ wallet: string | null; isOnboarded: boolean }> {
  const [row] = await database.owner<{ wallet: string | null; isOnboarded: boolean }[]>`
    select wallet_address as wallet, onboarded_at is not null as "isOnboarded" from merchants where id = ${id}`;
  if (!row) throw new Error(`the merchant ${id} is gone`);
  return row;
}
