import type { Hex } from '../../chain/rpc.ts';
import { isKeySigned, queryContract, readSignature, unwrap } from '../../chain/signature.ts';
import type { ChainConfig } from '../../config/chains.ts';

/**
 * Converts a signature from a browser to the form that the contract accepts; null for an invalid one. A deployed wallet
 * accepts the content of ERC-6492's wrapper.
 */
export function readMandateSignature(typed: string): Hex | null {
  const text = readSignature(typed);
  if (text === null || text === '0x') return null;
  const signature = unwrap(text);
  return signature && withRecoveryBit(signature);
}

/** Some hardware wallets count a key's recovery bit from 0, which no contract accepts. */
function withRecoveryBit(signature: Hex): Hex {
  const v = Number.parseInt(signature.slice(130), 16);
  return signature.length === 132 && v < 2 ? `0x${signature.slice(2, 130)}${(v + 27).toString(16)}` : signature;
}

export type SignedFault = 'bad_signature' | 'not_deployed' | 'unreachable';

/**
 * Checks who signed a hash: first the key of the address, then its code, as every endpoint reports. Null: the signature
 * is valid.
 */
export async function signatureFault(
  chain: ChainConfig,
  signed: { address: Hex; hash: Hex; signature: Hex },
): Promise<SignedFault | null> {
  if (await isKeySigned(signed)) return null;
  const verdict = await queryContract(chain, signed, { undeployed: false });
  if (verdict === 'accepted') return null;
  if (verdict === 'refused') return 'bad_signature';
  // Without code there is only the key, which has not signed.
  if (verdict === 'not_deployed') return signed.signature.length === 132 ? 'bad_signature' : 'not_deployed';
  return 'unreachable';
}
