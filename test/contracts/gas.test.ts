import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chargeCall, referenceWord, revokeBySignatureCall, revokeCall } from '../../src/chain/recurring/calls.ts';
import { type Mandate, revocationTypedData } from '../../src/chain/recurring/mandate.ts';
import { asDone, recurringStage, type Stage } from '../support/chain/recurring.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

const documented = readFileSync(join(import.meta.dirname, '../../docs/contracts.md'), 'utf8');

/** Bytes without zeros cost most, so the figures do not depend on chance: addresses and hashes have few. */
const reference = (number: number) => referenceWord(Buffer.alloc(16, number));

async function measure(): Promise<Record<string, number>> {
  const payer = await stage.payer(1_000_000_000n, 0n);
  const payee = (await stage.payer(1n, 0n)).address.toLowerCase() as Hex;
  const mandate = await stage.makeMandate(payer.address, { payee, minIntervalSeconds: 1 });
  const signature = await stage.sign(payer, mandate);
  const send = async (data: Hex) => asDone(await stage.send(mandate.executor, stage.contract, data)).gasUsed;
  const charge = (number: number, own: Mandate, signed: Hex) => ({
    ...{ mandate: own, signature: signed, amount: 19_990_000n, reference: reference(number) },
  });
  const permit = await stage.permit(payer, 240_000_000n);
  const first = await send(chargeCall(charge(1, mandate, signature), permit));
  const later = await send(chargeCall(charge(2, mandate, signature), null));

  const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`);
  const wallet = await stage.deploy('OwnedWallet', owner.address);
  await stage.node.fund(wallet, 1_000_000_000n);
  await stage.approve(wallet, 1_000_000_000n);
  const ofWallet = await stage.makeMandate(wallet, { payee, executor: mandate.executor, minIntervalSeconds: 1 });
  const wrapped: Hex = `0x01${(await stage.sign(owner, ofWallet)).slice(2)}`;
  await send(chargeCall(charge(3, ofWallet, wrapped), null));
  const contractWallet = await send(chargeCall(charge(4, ofWallet, wrapped), null));

  const revocation = await payer.signTypedData(revocationTypedData(mandate, stage.chainId, stage.contract));
  const bySignature = await send(revokeBySignatureCall(mandate, revocation));
  const revoke = await send(revokeCall(ofWallet));
  return {
    'first charge, with the permit': first,
    'each later charge': later,
    'each later charge of a small contract wallet': contractWallet,
    'revoking as a party': revoke,
    'revoking by a signature': bySignature,
  };
}

test('the gas that docs/contracts.md names is what a charge and a revocation use, to a hundredth', async () => {
  for (const [what, gas] of Object.entries(await measure())) {
    const figure = new RegExp(`\\| ${what} \\| ([\\d,]+) \\|`).exec(documented)?.[1];
    const told = Number(figure?.replaceAll(',', ''));
    assert.ok(Math.abs(gas - told) <= gas / 100, `${what}: ${gas}, documented ${figure}`);
  }
});
