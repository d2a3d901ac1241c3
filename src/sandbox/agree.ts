import { privateKeyToAccount } from 'viem/accounts';
import { mandateTypedData } from '../chain/recurring/mandate.ts';
import type { Hex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { agree, type CustomersPlan, offerTo, stepAfterSigning, termsOn } from '../plans/mandates/agree.ts';
import type { SubmittedPermit } from '../plans/mandates/allowance.ts';
import type { MandateRow } from '../plans/mandates/read.ts';
import { shownTerms } from '../plans/mandates/shown-terms.ts';
import { chargesAllowed } from '../plans/mandates/terms.ts';
import { endpointOf, fund } from './wallet.ts';

/**
 * Agrees to a plan's automatic charges as its customer would on the plan's page, with a wallet that is funded first.
 *
 * @throws Error with a sentence if the plan cannot be agreed to
 */
export async function agreeInSandbox(
  ctx: Context,
  chain: ChainConfig,
  plan: CustomersPlan,
  privateKey: Hex,
): Promise<MandateRow> {
  const { facts } = plan;
  const account = privateKeyToAccount(privateKey);
  const charges = chargesAllowed(facts);
  const place = { chainId: chain.chainId, token: endpointOf(chain).usdc };
  const terms = await termsOn(ctx, facts, place);
  if (!terms) throw new Error(faultSentence('none'));
  const payer = account.address.toLowerCase();
  const offered = await offerTo(ctx, plan, { ...place, payer, charges, shown: shownTerms(facts, terms) });
  if ('fault' in offered) throw new Error(faultSentence(offered.fault));
  const { mandate } = offered.offer;
  await fund(chain, account.address, mandate.maxAmount * BigInt(charges));
  const signature = await account.signTypedData(mandateTypedData(mandate, chain.chainId, terms.contract));
  const signed = { offer: offered.text, signature };
  const step = await stepAfterSigning(ctx, plan, signed);
  if ('fault' in step) throw new Error(faultSentence(step.fault));
  if (step.kind === 'approve') throw new Error(faultSentence('permit_refused'));
  const permit: SubmittedPermit | null =
    step.kind === 'enough' ? null : { ...step, signature: await signJson(account, step.json) };
  const agreed = await agree(ctx, plan, { ...signed, permit });
  if ('fault' in agreed) throw new Error(faultSentence(agreed.fault));
  return agreed.mandate;
}

/** Signs the JSON text of `eth_signTypedData_v4`, as a wallet does. */
function signJson(account: ReturnType<typeof privateKeyToAccount>, json: string): Promise<Hex> {
  const { domain, types, primaryType, message } = JSON.parse(json);
  const { EIP712Domain: _, ...own } = types;
  return account.signTypedData({ domain, types: own, primaryType, message });
}

function faultSentence(fault: string): string {
  if (fault !== 'none') return `The plan could not be agreed to: ${fault}.`;
  return 'There is nothing to agree to: the plan is not charged automatically, has ended, or its merchant cannot be paid.';
}
