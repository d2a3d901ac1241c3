import { BlockList, isIP, isIPv6 } from 'node:net';

const kindOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Returns a predicate: is an address in one of the networks? An IPv4 address also counts in its IPv6 form, as
 * dual-stack sockets report it.
 *
 * @param cidrs such as `10.0.0.0/8` and `::1/128`
 */
export function inNetworks(cidrs: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/');
    list.addSubnet(network, Number(bits), kindOf(network));
  }
  return (address = '') => isIP(address) !== 0 && list.check(address, kindOf(address));
}

export const loopback: readonly string[] = ['127.0.0.0/8', '::1/128'];
/** True for a loopback address. */
export const isLoopback = inNetworks(loopback);

/** True for the host of a URL, or a name to listen on, that only this machine can reach. */
export function namesThisMachine(host: string): boolean {
  return /^(?:.+\.)?localhost$/i.test(host) || isLoopback(host.replace(/^\[|\]$/g, ''));
}

const withPort = /^(?:(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)$/i;

/** An address without the port that stands beside it in `192.0.2.7:4711` and `[2001:db8::7]:4711`. */
export function withoutPort(address: string): string {
  const [, ipv4, ipv6] = withPort.exec(address) ?? [];
  return ipv4 ?? ipv6 ?? address;
}
