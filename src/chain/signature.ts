import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  keccak256,
  parseAbi,
  parseErc6492Signature,
  recoverAddress,
  stringToHex,
  zeroAddress,
} from 'viem';
import type { ChainConfig } from '../config/chains.ts';
import { connectRpc, type Hex, type Rpc, RpcError } from './rpc.ts';

/** Who is claimed to have signed what. The address is in lower case, the signature as submitted. */
export type SignedText = { address: string; hash: Hex; signature: Hex };

/**
 * A chain's verdict about a contract's signature. One endpoint's `refused` is enough. Otherwise all configured
 * endpoints must agree; if they do not, or one does not answer, the result is `unreachable`.
 */
export type ContractVerdict = 'accepted' | 'refused' | 'not_deployed' | 'unreachable';

/** No signature of a wallet in use comes near this length, and contracts need gas for each byte they read. */
const maxSignatureBytes = 8_192;
const keySignatureBytes = 65;
const erc6492Suffix = '6492'.repeat(16);
/** ERC-8010 lets an account delegate to other code first. Whoever holds the key can sign with the key just as well. */
const erc8010Suffix = '8010'.repeat(16);

const timeoutMs = 5_000;
/** Passkeys and multiple owners cost under a million; even including a wallet's deployment it stays below this. */
const gasLimit: Hex = '0x989680';
/** Not the zero address: some contracts treat a call from it as a gas estimate and check nothing. */
const caller: Hex = `0x${keccak256(stringToHex('quittance: asks whether a contract signed')).slice(-40)}`;

const erc1271Abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const erc1271Magic = `0x1626ba7e${'00'.repeat(28)}`;

/** Parses a signature as typed; null for an invalid one: not whole bytes in hex, too long, or wrapped by ERC-8010. */
export function readSignature(typed: string): Hex | null {
  const text = typed.slice(0, 2 * maxSignatureBytes + 100).trim();
  if (text.length > 2 + 2 * maxSignatureBytes || !/^0x(?:[0-9a-f]{2})*$/i.test(text)) return null;
  const signature = text.toLowerCase() as Hex;
  return signature.endsWith(erc8010Suffix) ? null : signature;
}

/** Whether a signature has the length of a key's; only a contract can check one of another length. */
export function isKeySized(signature: Hex): boolean {
  return signature.length <= 2 + 2 * keySignatureBytes;
}

/**
 * Whether the key of an address signed, even where the account also has code (EIP-7702). The zero address has no key.
 */
export async function isKeySigned({ address, hash, signature }: SignedText): Promise<boolean> {
  if (signature.length !== 2 + 2 * keySignatureBytes || address === zeroAddress) return false;
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() === address;
  } catch {
    return false; // no point of the curve, or no recovery bit
  }
}

/**
 * Asks every endpoint of a chain whether the contract at an address signed (ERC-1271). For a deployed contract, a
 * signature in ERC-6492's wrapper is unwrapped. With `undeployed`, a wallet without code is asked through its factory.
 */
export async function queryContract(
  chain: ChainConfig,
  signed: SignedText,
  options: { undeployed: boolean },
): Promise<ContractVerdict> {
  if (signed.address === zeroAddress) return 'refused';
  const words = await Promise.all(
    chain.rpcUrls.map((url) => queryEndpoint(connectRpc(url, timeoutMs), chain.chainId, signed, options)),
  );
  if (words.includes('refused')) return 'refused';
  const [first = 'unreachable'] = words;
  return words.every((word) => word === first) ? first : 'unreachable';
}

async function queryEndpoint(
  rpc: Rpc,
  chainId: number,
  signed: SignedText,
  { undeployed }: { undeployed: boolean },
): Promise<ContractVerdict> {
  try {
    const [reportedId, code] = await Promise.all([rpc.chainId(), rpc.code(signed.address)]);
    if (reportedId !== chainId) return 'unreachable';
    const wrapped = signed.signature.endsWith(erc6492Suffix);
    if (code !== '0x') return await callContract(rpc, signed, wrapped);
    return undeployed && wrapped ? await callFactory(rpc, signed) : 'not_deployed';
  } catch (error) {
    if (error instanceof RpcError) return 'unreachable';
    throw error;
  }
}

async function callContract(
  rpc: Rpc,
  { address, hash, signature }: SignedText,
  wrapped: boolean,
): Promise<ContractVerdict> {
  const inner = wrapped ? unwrap(signature) : signature;
  if (inner === null) return 'refused';
  const data = encodeFunctionData({ abi: erc1271Abi, functionName: 'isValidSignature', args: [hash, inner] });
  return isAnswer(rpc, { from: caller, to: address, data, gas: gasLimit }, erc1271Magic);
}

/** The reference validator of ERC-6492 has the factory deploy the wallet, asks it, and leaves no trace. */
async function callFactory(rpc: Rpc, { address, hash, signature }: SignedText): Promise<ContractVerdict> {
  if (unwrap(signature) === null) return 'refused';
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address as Hex, hash, signature],
  });
  return isAnswer(rpc, { from: caller, data, gas: gasLimit }, '0x01');
}

/** Without ERC-6492's wrapper, if it has one; null if that is malformed. */
export function unwrap(signature: Hex): Hex | null {
  try {
    return parseErc6492Signature(signature).signature;
  } catch {
    return null;
  }
}

/** A revert, or anything but the one valid answer, is a refusal. Nothing that the contract names is followed. */
async function isAnswer(rpc: Rpc, call: Parameters<Rpc['tryCall']>[0], expected: string): Promise<ContractVerdict> {
  try {
    return (await rpc.tryCall(call)) === expected ? 'accepted' : 'refused';
  } catch (error) {
    if (error instanceof RpcError && (error.kind === 'refused' || error.kind === 'too_large')) return 'refused';
    throw error;
  }
}
