const oneAddress = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** True for exactly one e-mail address. Mail software would read commas and angle brackets as a list. */
export function isOneAddress(text: string): boolean {
  return text.length <= 254 && oneAddress.test(text);
}
