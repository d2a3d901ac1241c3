/** The contrast that WCAG 2 (AA) requires of text. */
export const readableContrast = 4.5;

/** A colour as people see it: lightness 0 to 1, chroma from 0 (grey) to about 0.4, hue in degrees. */
export type Oklch = { l: number; c: number; h: number };

type Triple = [number, number, number];

/** `#rrggbb` in lower case from `#0a7` or `#00AA77`, with or without the `#`; null for anything else. */
export function parseHex(text: string): string | null {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return null;
  return `#${digits.length === 3 ? digits.replace(/./g, '$&$&') : digits}`;
}

/** The WCAG contrast ratio of two `#rrggbb` colours: 1 (the same) to 21 (black on white). */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The channels of `#rrggbb` as amounts of light, 0 to 1. */
function linear(hex: string): Triple {
  const channel = (from: number) => {
    const value = Number.parseInt(hex.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function hexOf(light: Triple): string {
  const digits = light.map((value) => {
    const encoded = value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055;
    return Math.round(Math.min(Math.max(encoded, 0), 1) * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${digits.join('')}`;
}

/** A `#rrggbb` colour in OKLCH; the matrices are those of Björn Ottosson's Oklab. */
export function toOklch(hex: string): Oklch {
  const [r, g, b] = linear(hex);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(a, bb),
    h: ((Math.atan2(bb, a) * 180) / Math.PI + 360) % 360,
  };
}

function lightOf({ l: lightness, c, h }: Oklch): Triple {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** Whether sRGB can show a colour, with room for rounding. */
const isShown = (light: Triple) => light.every((value) => value >= -1e-4 && value <= 1 + 1e-4);

/** An OKLCH colour as `#rrggbb`. A colour outside the sRGB gamut loses chroma and keeps lightness and hue. */
export function fromOklch(color: Oklch): string {
  const asked = lightOf(color);
  if (isShown(asked)) return hexOf(asked);
  let [shown, beyond] = [0, color.c];
  for (let i = 0; i < 20; i++) {
    const middle = (shown + beyond) / 2;
    if (isShown(lightOf({ ...color, c: middle }))) shown = middle;
    else beyond = middle;
  }
  return hexOf(lightOf({ ...color, c: shown }));
}

const lightnessSteps = 200;

/**
 * Changes the lightness of an accent as little as needed to be readable on every background, and chooses the colour of
 * text on it.
 *
 * @param grounds `#rrggbb` each, all light or all dark
 * @param accent `#rrggbb`
 * @returns both as `#rrggbb`; text on the accent has the colour of one of the backgrounds
 * @throws Error when no lightness is readable on all backgrounds
 */
export function accentFor(grounds: readonly string[], accent: string): { accent: string; onAccent: string } {
  const readable = (color: string) => grounds.every((ground) => contrast(ground, color) >= readableContrast);
  const start = toOklch(accent);
  for (let step = 0; step <= lightnessSteps; step++) {
    for (const sign of [-1, 1]) {
      const l = Math.min(Math.max(start.l + (sign * step) / lightnessSteps, 0), 1);
      const moved = step === 0 ? accent : fromOklch({ ...start, l });
      if (!readable(moved)) continue;
      const [onAccent = ''] = grounds.toSorted((a, b) => contrast(b, moved) - contrast(a, moved));
      return { accent: moved, onAccent };
    }
  }
  throw new Error(`No lightness of ${accent} can be read on all of ${grounds.join(', ')}.`);
}
