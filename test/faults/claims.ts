import { hashTypedData } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { claimTypedData } from '../../src/payments/submitted/claim.ts';
import { post } from './actions.ts';
import { isForClaim, type MadeOrder, type Payer, type Payment } from './model.ts';
import { at } from './seeded-choices.ts';
import { chainOf, type Stage } from './stage.ts';

/** Signs claims for payments, rightly and wrongly. */

const signatureOfNobody = `0x${'00'.repeat(64)}1b`;

/** A contract wallet accepts the hash itself: see `contract-wallets.ts`. */
function signAs({ privateKey }: Payer, data: ReturnType<typeof claimTypedData>): Promise<string> {
  return privateKey ? privateKeyToAccount(privateKey).signTypedData(data) : Promise.resolve(hashTypedData(data));
}

/** The sender of a payment without a reference signs that it was for the order, also if it was refunded. */
export async function claim(stage: Stage, [which = 0, , share = 0]: readonly number[]): Promise<boolean> {
  const payment = at(
    stage.model.payments.filter(({ how, refund }) => isForClaim(how) && refund !== 'unsure').slice(-30),
    which,
  );
  if (payment) await claimFor(stage, payment, share);
  return payment !== undefined;
}

export async function claimFor(stage: Stage, payment: Payment, share: number): Promise<void> {
  const { from, order } = payment;
  if (!from || order.id === null) return;
  payment.claimed = true;
  await postClaim(stage, payment, order as MadeOrder, from, share);
}

/** @param signer null: nobody, but it looks like a signature */
async function postClaim(stage: Stage, payment: Payment, order: MadeOrder, signer: Payer | null, share: number) {
  const { txHash } = payment;
  const key = { chainId: chainOf(stage, payment.where).chainId, txHash, ordinal: 0 };
  const data = claimTypedData(stage.ctx.config, order.id, key);
  const signature = signer ? await signAs(signer, data) : signatureOfNobody;
  const fields = { chain_id: String(key.chainId), tx_hash: txHash, ordinal: '0', signature };
  await post(stage, order, share, 'claim', fields);
}

/** A stranger claims somebody's payment, or a mint that has no sender, for a request of their own. It pays nothing. */
export async function steal(stage: Stage, [which = 0, whose = 0, share = 0]: readonly number[]): Promise<boolean> {
  const unnamed = stage.model.payments.filter(({ how }) => how === 'mint' || isForClaim(how) || how === 'rounded');
  const payment = at(unnamed.slice(-30), which);
  const own = at(
    stage.model.newest((order) => order !== payment?.order && order.wallet === payment?.order.wallet),
    whose,
  );
  const stranger = at(stage.payers, share);
  if (!payment || !own || !stranger || stranger === payment.from) return false;
  await postClaim(stage, payment, own, whose < 0.5 ? stranger : null, share);
  return true;
}
