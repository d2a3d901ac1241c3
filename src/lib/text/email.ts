import { domainToASCII } from 'node:url';

/** Servers that prepare names for comparison leave these out, as they do in domains. */
const unseen = /[\p{DI}\p{Cc}]/gu;

const oneAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** True for exactly one e-mail address. Mail software would read commas and angle brackets as a list. */
export function isOneAddress(text: string): boolean {
  return text.length <= 254 && oneAddress.test(text);
}

/**
 * The mailbox that an address most likely leads to, for limits of what somebody is sent: many servers ignore case,
 * dots, what follows a plus sign, and characters that nobody sees. Two people who share a limit because of this lose
 * nothing else.
 */
export function mailboxOf(address: string): string {
  const [, name = '', server = ''] = /^([^@]*)@?(.*)$/s.exec(address.normalize('NFKC').toLowerCase()) ?? [];
  const plain = name
    .replace(unseen, '')
    .replace(/(?<=.)\+.*$/s, '')
    .replaceAll('.', '');
  return `${plain}@${(domainToASCII(server) || server).replace(/\.+$/, '')}`;
}
