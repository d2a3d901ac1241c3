import { randomBytes } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { callRpc, type Hex, toHex } from '../../../src/chain/rpc.ts';
import type { TestChain } from './chain.ts';

const gas = 900_000_000n;

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/**
 * A contract that makes as many empty logs, and then as many calls, as its calldata asks for. The calldata is three
 * words (number of logs, number of calls, address to call), then the 68 bytes of the call.
 */
function assemble(): Hex {
  const loop = (start: number, body: string) => {
    const end = start + 6 + body.length / 2 + 7;
    return `5b801560${hex(end)}57${body}6001900360${hex(start)}56`;
  };
  let program = '600035';
  program += loop(program.length / 2, '60006000a0');
  program += '5b5060446060600037602035';
  program += loop(program.length / 2, '600060006044600060006040355af150');
  return `0x${program}5b00`;
}

/** Sends transactions with many logs on a local chain. */
export async function giants(node: TestChain) {
  const url = node.chain.rpcUrls[0] ?? '';
  const usdc = node.chain.tokens[0]?.address ?? '';
  const contract: Hex = `0x${randomBytes(20).toString('hex')}`;
  const sender: Hex = `0x${randomBytes(20).toString('hex')}`;
  await callRpc(url, 'anvil_setBlockGasLimit', [toHex(2n * gas)]).catch(() =>
    callRpc(url, 'evm_setBlockGasLimit', [toHex(2n * gas)]),
  );
  await callRpc(url, 'anvil_setCode', [contract, assemble()]);
  await callRpc(url, 'anvil_impersonateAccount', [sender]);
  await callRpc(url, 'anvil_setBalance', [sender, toHex(10n ** 24n)]);
  await node.fund(contract, 1_000_000_000n);
  return {
    contract,
    sender,
    /** Submits it to the chain and returns its hash. */
    send: async (giant: { logs: number; transfers: number; to: string; usdcMicro: bigint; reference?: Uint8Array }) => {
      const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0');
      const args = [giant.to as Hex, giant.usdcMicro] as const;
      const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }).slice(2);
      const tail = Buffer.from(giant.reference ?? []).toString('hex');
      const data = `0x${word(BigInt(giant.logs))}${word(BigInt(giant.transfers))}${word(usdc)}${call}${tail}`;
      return String(
        await callRpc(url, 'eth_sendTransaction', [{ from: sender, to: contract, data, gas: toHex(gas) }], 60_000),
      );
    },
    /** Mines all waiting transactions into one block. */
    together: async (work: () => Promise<unknown>) => {
      await callRpc(url, 'evm_setAutomine', [false]);
      await work();
      await callRpc(url, 'evm_mine', [], 60_000);
      await callRpc(url, 'evm_setAutomine', [true]);
    },
  };
}
