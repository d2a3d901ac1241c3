import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Which addresses may be contacted when a stranger chooses the URL. */
export type OutboundPolicy = {
  /** Networks that may be reached even if they are private, e.g. `10.1.0.0/16`. */
  allowCidrs: readonly string[];
  /** Whether http is allowed everywhere. If false, http is allowed only to addresses within `allowCidrs`. */
  plainHttp: boolean;
};

/** Azure's platform address: public by its range, but it answers only inside a virtual machine. */
const cloudPlatform = '168.63.129.16';
/** The part of IPv6 that is routed publicly today; the rest is reserved, embeds IPv4 or is local. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address is inside one of the networks. An IPv4-mapped address is not inside any IPv4 network. */
function isWithin(address: string, cidrs: readonly string[]): boolean {
  const parsed = ipaddr.parse(address);
  return cidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}

/**
 * Whether an address is clearly on the public internet: not private, loopback, link-local (cloud metadata),
 * carrier-grade NAT, multicast, documentation or reserved; for IPv6 also not IPv4-mapped, NAT64, 6to4 or Teredo.
 */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || parsed.toString() === cloudPlatform) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalIpv6);
}

/** Whether the policy allows a connection of this protocol to this IP address. */
export function mayConnect(policy: OutboundPolicy, protocol: string, address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  if (isWithin(address, policy.allowCidrs)) return true;
  return (protocol === 'https:' || policy.plainHttp) && isPublic(address);
}

/** A rule that a URL breaks, with a sentence for the command line. */
export type UrlFault = {
  rule: 'not_a_url' | 'too_long' | 'credentials' | 'not_https' | 'private';
  message: string;
};

const notHttps: UrlFault = { rule: 'not_https', message: 'The URL must be an https address.' };

/**
 * Checks a URL before it is stored. A host name is checked later, whenever it is resolved for a connection. `URL`
 * converts decimal, octal and hexadecimal forms of IPv4 to the usual one.
 *
 * @returns the first rule that the URL breaks, or null if it may be used
 */
export function urlFault(policy: OutboundPolicy, text: string): UrlFault | null {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    return { rule: 'not_a_url', message: 'The URL must be an http or https address.' };
  }
  if (text.length > 2048) return { rule: 'too_long', message: 'The URL may have at most 2048 characters.' };
  if (url.username || url.password) {
    return { rule: 'credentials', message: 'The URL must not contain a user name or password.' };
  }
  const host = bareHost(url.hostname);
  if (isIP(host)) {
    if (mayConnect(policy, url.protocol, host)) return null;
    if (isPublic(host)) return notHttps;
    return {
      rule: 'private',
      message: `The service may not send to ${url.protocol}//${host}: the address is private.`,
    };
  }
  // A name may turn out to lead to a configured network, where plain http is allowed.
  return url.protocol === 'http:' && !policy.plainHttp && policy.allowCidrs.length === 0 ? notHttps : null;
}

/** A URL's host without the brackets of IPv6. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
