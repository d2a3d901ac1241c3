import { createPublicClient, getAddress, type Hex, http, isHex, recoverMessageAddress, size } from 'viem';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import type { ChainConfig } from '../chain/config.ts';
import { isAddress } from '../lib/ids.ts';

/** Everything a wallet signs to become the wallet of one merchant (EIP-4361). */
export type SignIn = {
  /** Public address of the service: its host is the domain that the wallet shows. */
  baseUrl: string;
  address: string;
  chainId: number;
  accountId: string;
  nonce: string;
  termsVersion: string;
  issuedAt: Date;
  expiresAt: Date;
};

/** The message to sign. Two different sign-ins never have the same message. */
export function signInMessage(signIn: SignIn): string {
  const { baseUrl, accountId } = signIn;
  return createSiweMessage({
    address: getAddress(signIn.address.toLowerCase()),
    chainId: signIn.chainId,
    domain: new URL(baseUrl).host,
    uri: `${baseUrl}/onboard`,
    version: '1',
    nonce: signIn.nonce,
    issuedAt: signIn.issuedAt,
    expirationTime: signIn.expiresAt,
    statement: `I receive payments at this wallet as merchant ${accountId} and accept the terms in version ${signIn.termsVersion}.`,
    resources: [`${baseUrl}/accounts/${accountId}`],
  });
}

/**
 * What a message claims. To trust it, build the message again from what the service knows and compare the whole text:
 * so no field, line or character can differ unseen.
 *
 * @returns null for a text that is no EIP-4361 message
 */
export function readSignIn(message: string): { address: string; chainId: number; nonce: string } | null {
  const { address, chainId, nonce } = parseSiweMessage(message);
  if (!isAddress(address) || !chainId || !Number.isSafeInteger(chainId) || !nonce) return null;
  return { address: address.toLowerCase(), chainId, nonce };
}

/** Forms send line ends as CR LF; what was signed has LF. */
export function withPlainLineEnds(message: string): string {
  return message.replaceAll('\r\n', '\n').trim();
}

export type WalletProof =
  /** `chainIds`: a contract wallet, and the chains on which its deployed code accepted the signature; null: any chain. */
  | { valid: true; chainIds: number[] | null }
  | { valid: false; reason: 'signature_invalid' | 'wallet_not_deployed' | 'chain_unreachable' };

/** No signature of a wallet in use comes near this, and the contracts that read it need gas for each byte. */
const maxSignatureBytes = 8192;
const callTimeoutMs = 5000;

/**
 * Checks that a wallet signed a message: a key's signature, or a contract's word (ERC-1271, ERC-6492) on each chain
 * where it is deployed. Asks the chains, so never inside a transaction.
 */
export async function proveWallet(
  chains: ChainConfig[],
  address: string,
  message: string,
  signature: string,
): Promise<WalletProof> {
  if (!isHex(signature) || size(signature) > maxSignatureBytes) return { valid: false, reason: 'signature_invalid' };
  if ((await recover(message, signature)) === address.toLowerCase()) return { valid: true, chainIds: null };
  const answers = await Promise.all(
    chains.map(async (chain) => ({
      chainId: chain.chainId,
      ...(await askContract(chain, address, message, signature)),
    })),
  );
  const accepted = answers.filter(({ answer }) => answer === 'accepted').map(({ chainId }) => chainId);
  if (accepted.length > 0) return { valid: true, chainIds: accepted };
  const answered = (kind: string) => answers.some(({ answer }) => answer === kind);
  if (answered('refused')) return { valid: false, reason: 'signature_invalid' };
  if (answered('unreachable')) return { valid: false, reason: 'chain_unreachable' };
  // 65 bytes are a key's signature, only of another key; anything longer comes from a contract that is nowhere.
  return { valid: false, reason: size(signature) > 65 ? 'wallet_not_deployed' : 'signature_invalid' };
}

async function recover(message: string, signature: Hex): Promise<string | null> {
  try {
    return (await recoverMessageAddress({ message, signature })).toLowerCase();
  } catch {
    return null; // no signature of a key: it may still be a contract's
  }
}

async function askContract(
  chain: ChainConfig,
  address: string,
  message: string,
  signature: Hex,
): Promise<{ answer: 'accepted' | 'refused' | 'not_deployed' | 'unreachable' }> {
  for (const url of chain.rpcUrls) {
    const client = createPublicClient({ transport: http(url, { timeout: callTimeoutMs, retryCount: 0 }) });
    try {
      if ((await client.getChainId()) !== chain.chainId) continue;
      const code = await client.getCode({ address: address as Hex });
      if (!code || code === '0x') return { answer: 'not_deployed' };
      const accepted = await client.verifyMessage({ address: address as Hex, message, signature });
      return { answer: accepted ? 'accepted' : 'refused' };
    } catch {
      // The next provider is asked; when none answers, the caller says that the chain could not be reached.
    }
  }
  return { answer: 'unreachable' };
}
