/**
 * Sets an entry of a map with a maximum size, and removes the oldest entry if needed. An entry that is set again keeps
 * its age.
 */
export function keepNewest<K, V>(kept: Map<K, V>, key: K, value: V, max: number): void {
  kept.set(key, value);
  if (kept.size > max) for (const oldest of kept.keys()) return void kept.delete(oldest);
}
