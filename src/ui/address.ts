import { getAddress } from 'viem';
import { isAddress } from '../lib/ids.ts';

/**
 * An address for people to read and copy, with the checksum of EIP-55, by which wallets detect typing errors. Addresses
 * are stored and compared in lower case. Any other text is returned unchanged.
 */
export const checksummed = (text: string): string => (isAddress(text) ? getAddress(text.toLowerCase()) : text);
