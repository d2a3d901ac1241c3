import { getAddress } from 'viem';
import { isAddress } from '../lib/ids.ts';

/**
 * An address as people see and copy it: with the checksum of EIP-55, by which wallets find a typing error. Stored and
 * compared are lower-case ones. Any other text stays as it is.
 */
export const checksummed = (text: string): string => (isAddress(text) ? getAddress(text.toLowerCase()) : text);
