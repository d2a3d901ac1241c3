const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The UUID of zeros, which nothing has. */
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** An 8-4-4-4-12 UUID in either case; the database compares them in lower case. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text);
}

/** The 16 bytes of a UUID. */
export const bytesOfUuid = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** The UUID of 16 bytes, in lower case. */
export const uuidOfBytes = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/**
 * The UUID of a version that is made of these bytes: all but the six bits that name the version, and the variant of RFC
 * 9562.
 *
 * @param bytes a hash, for example, of which the first 16 are used
 */
export function uuidOfVersion(version: 7 | 8, bytes: Buffer): string {
  const own = Buffer.from(bytes.subarray(0, 16));
  own.writeUInt8((own.readUInt8(6) & 0x0f) | (version << 4), 6);
  own.writeUInt8((own.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfBytes(own);
}

const hash32Pattern = /^0x[0-9a-f]{64}$/;

/** 32 bytes in lower-case hex, as hashes of transactions and nonces of authorizations have them. */
export function isHash32(text: unknown): text is `0x${string}` {
  return typeof text === 'string' && hash32Pattern.test(text);
}

const addressPattern = /^0x[0-9a-fA-F]{40}$/;

/** An EVM address in any casing. Addresses are stored and compared in lower case. */
export function isAddress(text: unknown): text is string {
  return typeof text === 'string' && addressPattern.test(text);
}

/** The address of zeros: tokens name it as the sender of what they mint, and nobody can sign for it. */
export const isZeroAddress = (address: string): boolean => /^0x0{40}$/.test(address);

/** The CAIP-19 name of a token, as the API's `asset_id`. */
export const assetId = (chainId: number | string, tokenAddress: string): string =>
  `eip155:${chainId}/erc20:${tokenAddress}`;
