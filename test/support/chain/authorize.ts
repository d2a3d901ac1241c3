import { randomBytes } from 'node:crypto';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainConfig } from '../../../src/config/chains.ts';

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

const types = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

type Authorization = { privateKey: Hex; to: string; usdcMicro: bigint; nonce?: Uint8Array; kind?: Kind };
type Kind = 'TransferWithAuthorization' | 'ReceiveWithAuthorization';

/** The calldata with which anybody can submit an authorization that this wallet signed. */
export async function authorizedCall(chain: ChainConfig, authorization: Authorization): Promise<Hex> {
  const { privateKey, to, usdcMicro, nonce = randomBytes(32), kind = 'TransferWithAuthorization' } = authorization;
  const account = privateKeyToAccount(privateKey);
  const verifyingContract = chain.tokens[0]?.address;
  const message = {
    from: account.address,
    to: to as Hex,
    value: usdcMicro,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + 86_400),
    nonce: `0x${Buffer.from(nonce).toString('hex')}`,
  } as const;
  const domain = { name: 'USD Coin', version: '2', chainId: chain.chainId, verifyingContract };
  const signature = await account.signTypedData({ domain, types: { [kind]: types }, primaryType: kind, message });
  return encodeFunctionData({
    abi,
    functionName: kind === 'TransferWithAuthorization' ? 'transferWithAuthorization' : 'receiveWithAuthorization',
    args: [account.address, message.to, usdcMicro, message.validAfter, message.validBefore, message.nonce, signature],
  });
}
