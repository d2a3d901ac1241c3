const oneAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** True for one e-mail address and nothing else: commas and angle brackets would be read as a list by what sends mails. */
export function isOneAddress(text: string): boolean {
  return text.length <= 254 && oneAddress.test(text);
}
