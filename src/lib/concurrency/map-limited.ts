/** Processes items, a few at a time, and keeps their order. */
export async function mapLimited<T, R>(items: readonly T[], few: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const lane = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: Math.min(few, items.length) }, lane));
  return results;
}
