import { domainToASCII } from 'node:url';

const oneAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** True for exactly one e-mail address. Mail software would read commas and angle brackets as a list. */
export function isOneAddress(text: string): boolean {
  return text.length <= 254 && oneAddress.test(text);
}

/**
 * The mailbox that an address most likely leads to, for limits of what somebody is sent: many servers ignore case, dots
 * and what follows a plus sign. Two people who share a limit because of this lose nothing else.
 */
export function mailboxOf(address: string): string {
  const [, name = '', server = ''] = /^([^@]*)@?(.*)$/s.exec(address.normalize('NFKC').toLowerCase()) ?? [];
  return `${name.replace(/(?<=.)\+.*$/s, '').replaceAll('.', '')}@${(domainToASCII(server) || server).replace(/\.$/, '')}`;
}
