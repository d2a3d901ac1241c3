import { keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerializedEIP1559 } from 'viem';
import type { RelayerSigner } from '../../config/relayer.ts';
import { callRpc, type Hex, RpcError, toHex } from '../rpc.ts';
import type { Offer } from './fees.ts';

/** A call to be signed: it moves no coin except fees. */
export type UnsignedCall = Offer & { chainId: number; nonce: number; to: Hex; data: Hex; gas: bigint };
export type Signed = { signed: Hex; hash: Hex };

const signerTimeoutMs = 8_000;

/**
 * Signs a call.
 *
 * @throws RpcError if a JSON-RPC signer does not answer, or signs something other than requested
 */
export async function signCall(signer: RelayerSigner, call: UnsignedCall): Promise<Signed> {
  const signed = 'account' in signer ? await signLocally(signer, call) : await signRemotely(signer, call);
  return { signed, hash: keccak256(signed) };
}

function signLocally({ account }: Extract<RelayerSigner, { account: unknown }>, call: UnsignedCall): Promise<Hex> {
  const { maxFeeWei, priorityFeeWei, ...rest } = call;
  return account.signTransaction({
    ...rest,
    type: 'eip1559',
    value: 0n,
    maxFeePerGas: maxFeeWei,
    maxPriorityFeePerGas: priorityFeeWei,
  });
}

/** Signers answer with the bytes, or with an object that contains them. */
async function signRemotely(
  { address, url }: Extract<RelayerSigner, { url: unknown }>,
  call: UnsignedCall,
): Promise<Hex> {
  const transaction = {
    type: '0x2',
    from: address,
    to: call.to,
    data: call.data,
    value: '0x0',
    gas: toHex(call.gas),
    nonce: toHex(call.nonce),
    chainId: toHex(call.chainId),
    maxFeePerGas: toHex(call.maxFeeWei),
    maxPriorityFeePerGas: toHex(call.priorityFeeWei),
  };
  const answer = await callRpc(url, 'eth_signTransaction', [transaction], signerTimeoutMs, 256 * 1024);
  const raw = typeof answer === 'object' && answer !== null ? (answer as { raw?: unknown }).raw : answer;
  if (typeof raw !== 'string' || !(await isSignatureOf(raw, address, call))) {
    throw new RpcError('malformed', 'the signer of RELAYER_SIGNER_URL returned another transaction than it was given');
  }
  return raw.toLowerCase() as Hex;
}

/** Whether bytes are exactly this call, signed by this address. */
async function isSignatureOf(raw: string, address: Hex, call: UnsignedCall): Promise<boolean> {
  if (!/^0x02(?:[0-9a-fA-F]{2})+$/.test(raw)) return false;
  const serialized = raw as TransactionSerializedEIP1559;
  try {
    const found = parseTransaction(serialized);
    const isSame =
      found.chainId === call.chainId &&
      (found.nonce ?? 0) === call.nonce &&
      found.to?.toLowerCase() === call.to.toLowerCase() &&
      (found.data ?? '0x').toLowerCase() === call.data.toLowerCase() &&
      (found.value ?? 0n) === 0n &&
      found.gas === call.gas &&
      found.maxFeePerGas === call.maxFeeWei &&
      (found.maxPriorityFeePerGas ?? 0n) === call.priorityFeeWei &&
      (found.accessList ?? []).length === 0;
    const signer = await recoverTransactionAddress({ serializedTransaction: serialized });
    return isSame && signer.toLowerCase() === address;
  } catch {
    return false; // not a transaction
  }
}
