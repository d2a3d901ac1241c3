/** A unit’s name as it stands after a number: `month` after 1, `months` after 2. */
export function unitName(language: string, unit: string, count: number): string {
  const parts = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).formatToParts(count);
  return parts.find(({ type }) => type === 'unit')?.value ?? unit;
}
