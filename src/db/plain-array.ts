/** An array of values without anything that arrays quote: numbers, ids, times, words of ours. pg looks through each. */
export const plainArray = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;
