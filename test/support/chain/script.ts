import { randomBytes } from 'node:crypto';
import { encodeAbiParameters, type Hex, toEventSelector } from 'viem';
import { callRpc } from '../../../src/chain/rpc.ts';
import { fund, sendTransaction } from '../../../src/sandbox/wallet.ts';
import type { TestChain } from './chain.ts';

/** What a script does next: call a contract, or emit a log of four topics itself. */
export type Act = { to: string; data: Hex } | { topics: readonly Hex[]; data: Hex };

/**
 * A contract that does what its calldata says, act by act: an address, the length of the data in four bytes, the data.
 * For the zero address it emits a log: four topics, then the data. A call that fails reverts it all.
 */
const program: Hex = `0x${[
  ...['6000', '5b80361115605957', '803560401c8063ffffffff169060201c', '9160180181816000378101', '91'],
  ...['8015604057', '600060008360006000855af115605b57', '5050600256'],
  ...['5b50606051604051602051600051', '60808503', '6080a4', '50600256', '5b00', '5b60006000fd'],
].join('')}`;

/** Places a script contract at an address of its own, or at the given one. */
export async function placeScript(node: TestChain, at: Hex = `0x${randomBytes(20).toString('hex')}`) {
  const url = node.chain.rpcUrls.at(-1) ?? '';
  const chain = { ...node.chain, rpcUrls: [url] };
  await callRpc(url, 'anvil_setCode', [at, program]);
  return {
    address: at,
    /** Does all of this in one transaction, sent by a wallet of nobody; returns its hash. */
    run: async (acts: readonly Act[]) => {
      const sender = node.wallet();
      await fund(chain, sender.address, 0n);
      return sendTransaction(chain, sender.privateKey, at, encode(acts));
    },
    /** The act that makes it call another script. */
    nested: (acts: readonly Act[]): Act => ({ to: at, data: encode(acts) }),
  };
}

function encode(acts: readonly Act[]): Hex {
  const parts = acts.map((act) => {
    const [to, data] = 'to' in act ? [act.to, act.data] : [zero, join([...act.topics, act.data])];
    return `${to.slice(2)}${((data.length - 2) / 2).toString(16).padStart(8, '0')}${data.slice(2)}`;
  });
  return `0x${parts.join('')}`;
}

const zero = `0x${'0'.repeat(40)}`;
const join = (parts: readonly Hex[]): Hex => `0x${parts.map((part) => part.slice(2)).join('')}`;

/** The log that the contract for recurring payments emits after a charge. */
export function chargedLog(charge: {
  reference: Uint8Array;
  payee: string;
  payer: string;
  token: string;
  usdcMicro: bigint;
}): Act {
  const topic = toEventSelector('Charged(bytes32,bytes32,address,address,address,uint256)');
  const reference: Hex = `0x${Buffer.from(charge.reference).toString('hex').padEnd(64, '0')}`;
  const data = encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
    [charge.payer as Hex, charge.token as Hex, charge.usdcMicro],
  );
  return { topics: [topic, `0x${'77'.repeat(32)}`, reference, `0x${charge.payee.slice(2).padStart(64, '0')}`], data };
}
