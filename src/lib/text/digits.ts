/** The first of ten digits each, as Arabic, Persian and Hindi write them. */
const otherDigits = [0x660, 0x6f0, 0x966];

/** A text with its digits as programs write them. */
export const withLatinDigits = (text: string): string =>
  text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    const zero = otherDigits.find((first) => code >= first && code < first + 10);
    return zero === undefined ? digit : String(code - zero);
  });
