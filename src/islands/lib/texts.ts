/** The texts that browser code shows, in the page's language. They come from the server. */
export type IslandTexts = Record<string, string>;

/**
 * Puts values into a text's `{placeholders}`. A value that begins the text gets a capital, such as “your browser wallet”,
 * unless it has capitals of its own, as the name “imToken” has.
 */
export function fillText(text: string | undefined, values: Record<string, string> = {}): string {
  return (text ?? '').replace(/\{(\w+)\}/g, (_, name: string, at: number) => {
    const value = values[name] ?? '';
    const isLower = value === value.toLocaleLowerCase(language);
    return at === 0 && isLower ? value.charAt(0).toLocaleUpperCase(language) + value.slice(1) : value;
  });
}

/** The language of the page, for `Intl`, with Latin digits, as the server writes them: older engines write others. */
export const language = `${document.documentElement.lang || 'en'}-u-nu-latn`;

/** Micro units as text for people, grouped as the server does. */
export function formatUsdc(micro: bigint): string {
  const digits = micro.toString().padStart(7, '0');
  const decimal = `${digits.slice(0, -6)}.${digits.slice(-6)}` as `${number}`;
  const format = { minimumFractionDigits: micro % 10_000n === 0n ? 2 : 6, maximumFractionDigits: 6 };
  return new Intl.NumberFormat(language, format).format(decimal);
}
