import type { Tx } from './connection.ts';

/** A condition: the column is this id, or one of several. For one alone the order of an index can be used, too. */
export function isOneOf(tx: Tx, column: ReturnType<Tx>, ids: string | readonly string[]) {
  const [first = null, ...rest] = [ids].flat();
  return rest.length === 0 ? tx`${column} = ${first}` : tx`${column} = any(${[first, ...rest]}::uuid[])`;
}
