import { type LocalAccount, privateKeyToAccount } from 'viem/accounts';
import { keyedHash, type SecretKey } from '../lib/encrypt.ts';
import { isAddress } from '../lib/ids.ts';
import { namesThisMachine } from '../lib/networks.ts';
import { readList } from './networks.ts';

/**
 * One of the relayer's addresses, in lower case, and its signer: a key in this process, or a JSON-RPC signer. Printing
 * either does not show a key. The URL may contain a password: never log it.
 */
export type RelayerSigner = { address: `0x${string}` } & ({ account: LocalAccount } | { url: string });

/** The relayer's addresses, newest first. Empty: nothing is relayed. */
export type RelayerConfig = { signers: RelayerSigner[] };

/** The signer of one private key. */
export function localSigner(privateKey: `0x${string}`): RelayerSigner {
  const account = privateKeyToAccount(privateKey);
  return { address: account.address.toLowerCase() as `0x${string}`, account };
}

/**
 * Reads `RELAYER_KEYS` (private keys in hex, newest first), or `RELAYER_SIGNER_URL` with `RELAYER_ADDRESS` (its
 * addresses, newest first). With both, the signer's addresses come first. Faults never quote a value, because a
 * misplaced value may be a key.
 *
 * @param derived whether to derive keys from the secret keys if none are given; for local chains only
 */
export function readRelayer(
  env: NodeJS.ProcessEnv,
  { sandbox, derived, secretKeys }: { sandbox: boolean; derived: boolean; secretKeys: SecretKey[] },
  faults: string[],
): RelayerConfig {
  const remote = readRemote(env.RELAYER_SIGNER_URL, env.RELAYER_ADDRESS, sandbox, faults);
  const local = readList(env.RELAYER_KEYS, []).flatMap((text, index) => {
    const signer = readKey(text);
    if (!signer) faults.push(`RELAYER_KEYS: entry ${index + 1} must be a private key of 32 bytes in hex`);
    return signer ?? [];
  });
  const signers = [...remote, ...local];
  if (new Set(signers.map(({ address }) => address)).size < signers.length) {
    faults.push('RELAYER_KEYS or RELAYER_ADDRESS names an address twice');
  }
  if (signers.length > 0 || !derived || env.RELAYER_KEYS || env.RELAYER_SIGNER_URL) return { signers };
  return { signers: secretKeys.map((secret) => localSigner(derivedKey(secret))) };
}

/** Reads `DEPLOYER_KEY`, which pays for `contracts deploy`. Null: the relayer pays. */
export function readDeployer(value: string | undefined, faults: string[]): RelayerSigner | null {
  if (!value) return null;
  const signer = readKey(value);
  if (!signer) faults.push('DEPLOYER_KEY must be a private key of 32 bytes in hex');
  return signer;
}

/** Reads a private key: 32 bytes in hex, not zero, below the order of the curve. Null for anything else. */
function readKey(text: string): RelayerSigner | null {
  const hex = text.replace(/^0x/, '');
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) return null;
  try {
    return localSigner(`0x${hex}`);
  } catch {
    return null; // out of the curve's range; the error would quote the key
  }
}

/** A key derived from a secret key. A 256-bit hash is an invalid key only once in 2^128. */
const derivedKey = (secret: SecretKey): `0x${string}` => `0x${keyedHash(secret, 'relayer', 'sandbox').toString('hex')}`;

function readRemote(
  signerUrl: string | undefined,
  addresses: string | undefined,
  sandbox: boolean,
  faults: string[],
): RelayerSigner[] {
  if (!signerUrl) {
    if (addresses) faults.push('RELAYER_ADDRESS needs RELAYER_SIGNER_URL');
    return [];
  }
  const url = URL.parse(signerUrl);
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && (sandbox || namesThisMachine(url.hostname)));
  if (!isSafe || url?.hash) {
    faults.push('RELAYER_SIGNER_URL must be an https address (http on this machine, or in the sandbox)');
  }
  const list = readList(addresses, []);
  if (list.length === 0 || !list.every(isAddress)) {
    faults.push('RELAYER_ADDRESS is required with RELAYER_SIGNER_URL: the addresses that it signs for, newest first');
  }
  return list.map((address) => ({ address: address.toLowerCase() as `0x${string}`, url: signerUrl }));
}
