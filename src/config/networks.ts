import { isIP } from 'node:net';

/** Reads a list whose items are separated by commas. */
export function readList(value: string | undefined, fallback: string[]): string[] {
  if (value === undefined) return fallback;
  return value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/** Reads a list of networks. A bare address is a network of one. A prefix must have a minimum length. */
export function readNetworks(
  name: 'WEBHOOK_ALLOW_CIDRS' | 'TRUST_PROXY' | 'DEV_ALLOW_CIDRS',
  env: NodeJS.ProcessEnv,
  fallback: string[],
  minBits: number,
  faults: string[],
): string[] {
  return readList(env[name], fallback).map((network) => {
    const [address = '', prefix, ...more] = network.split('/');
    const bits = isIP(address) === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : Number(prefix);
    const isWritten = /^\d{1,3}$/.test(prefix ?? '0') && more.length === 0;
    if (isIP(address) === 0 || address.includes('%') || !isWritten || length > bits)
      faults.push(`${name} contains "${network}", which is not a network such as 10.0.0.0/8`);
    else if (length < minBits)
      faults.push(`${name} contains "${network}", which is every address there is: name the networks that are yours`);
    return `${address}/${length}`;
  });
}
