import { callRpc, type Hex, toHex } from '../../src/chain/rpc.ts';
import { fund } from '../../src/sandbox/wallet.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { randomAddress } from '../support/fixtures.ts';
import type { Payer, Where } from './model.ts';

/** A second chain of the same mode, and contract wallets whose code is on only one of the two. */

const fundsMicro = 10n ** 15n;
const elsewhereId = 31_339;

/**
 * A wallet whose owner signs by the hash itself (ERC-1271): it compares the words after the selector and where the
 * signature begins, and answers the magic value or zero. Whoever signs by key is refused.
 */
const program: Hex = `0x${['600435', '606435', '14', '600f57', '60206000f3', '5b', '631626ba7e', '60e01b', '600052', '60206000f3'].join('')}`;

export const startElsewhere = (): Promise<TestChain> => testChain({ chainId: elsewhereId });

/** Places the code of a contract wallet. @returns its address */
export async function placeWallet({ chain }: TestChain): Promise<Hex> {
  const address = randomAddress() as Hex;
  await callRpc(chain.rpcUrls[0] ?? '', 'anvil_setCode', [address, program]);
  return address;
}

/** A contract wallet with money on both chains, whose code is only on the first. */
export async function makeContractPayer(here: TestChain, elsewhere: TestChain): Promise<Payer> {
  const address = await placeWallet(here);
  for (const { chain } of [here, elsewhere]) {
    const url = chain.rpcUrls[0] ?? '';
    await callRpc(url, 'anvil_impersonateAccount', [address]);
    await fund(chain, address, fundsMicro);
    await callRpc(url, 'anvil_setBalance', [address, toHex(10n ** 24n)]);
  }
  return { address, privateKey: null };
}

/** Where the wallets of a partner's merchants have code: null where they are no contracts. */
export const codeOf = (partner: number): (Where | null)[] => [
  ...[null, null, null],
  ...(([['here'], ['elsewhere'], []] as const)[partner] ?? []),
];
