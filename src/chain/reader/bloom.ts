import { keccak256 } from 'viem';
import type { Log } from '../rpc.ts';

type Bits = readonly number[];

const known = new Map<string, Bits>();

/** The three bits that a value sets in a block's 2,048-bit filter (Yellow Paper, 4.3.1). */
function bitsOf(value: string): Bits {
  const hash = keccak256(value as `0x${string}`, 'bytes');
  return [0, 2, 4].map((at) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047);
}

function hasBit(bloom: string, bit: number): boolean {
  const digit = Number.parseInt(bloom.charAt(bloom.length - 1 - (bit >> 2)), 16);
  return ((digit >> (bit & 3)) & 1) === 1;
}

/**
 * Whether a block's filter allows that one of its logs contains all these values. False is certain; true may be chance.
 *
 * @param bloom `logsBloom` of the header
 * @param values the few addresses and topics that are queried repeatedly; their bits are cached
 */
export function bloomHas(bloom: string, values: readonly string[]): boolean {
  return values.every((value) => {
    const bits = known.get(value) ?? bitsOf(value);
    if (known.size < 1_000) known.set(value, bits);
    return bits.every((bit) => hasBit(bloom, bit));
  });
}

/** As `bloomHas`, for one value that is not queried again. */
export function bloomHasOnce(bloom: string, value: string): boolean {
  return bitsOf(value).every((bit) => hasBit(bloom, bit));
}

/** Whether so many bits are set that a filter is useless. */
export function isSaturated(bloom: string): boolean {
  let set = 0;
  for (let bit = 0; bit < 2048; bit++) if (hasBit(bloom, bit)) set++;
  return set > 2048 * 0.9;
}

/**
 * The filter of these logs. Apart from chance, it equals the header's exactly when they are all the logs of the block.
 */
export function bloomOf(logs: readonly Pick<Log, 'address' | 'topics'>[]): string {
  const bytes = Buffer.alloc(256);
  for (const value of new Set(logs.flatMap((log) => [log.address, ...log.topics]))) {
    for (const bit of bitsOf(value)) {
      const at = 255 - (bit >> 3);
      bytes[at] = (bytes[at] as number) | (1 << (bit & 7));
    }
  }
  return `0x${bytes.toString('hex')}`;
}
