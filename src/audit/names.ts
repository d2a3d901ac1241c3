import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import {
  type NamedRow,
  selectKeyNames,
  selectMerchantNames,
  selectPartnerNames,
  selectUserNames,
} from './names-store.ts';
import type { AuditRow } from './store.ts';

/** What people call an object. A partner's pages are found by its slug. */
export type ObjectName = { name: string; slug?: string };
/** Names by kind and id, written as in the log: `merchant 0f8f…`. An object without a name is missing. */
export type ObjectNames = ReadonlyMap<string, ObjectName>;

/**
 * Reads the names of the merchants, keys, users and partners that rows of a log mention, as objects or in details.
 * Sends one query per kind.
 *
 * @param whose a partner's scope: only its own objects are named; `operators`: all are
 */
export async function readObjectNames(
  { db: { sql } }: Pick<Context, 'db'>,
  whose: Scope | 'operators',
  rows: readonly Pick<AuditRow, 'object_kind' | 'object_id' | 'details'>[],
): Promise<ObjectNames> {
  const partnerId = whose === 'operators' ? null : whose.partnerId;
  const objects = rows.flatMap(({ object_kind: kind, object_id: id, details }) => {
    const { merchant, partner } = JSON.parse(details) as Record<string, unknown>;
    return [
      { kind, id },
      { kind: 'merchant', id: merchant },
      { kind: 'partner', id: partner },
    ];
  });
  const all = (...kinds: string[]) => [
    ...new Set(objects.flatMap(({ kind, id }) => (kinds.includes(kind) && typeof id === 'string' ? [id] : []))),
  ];
  const endpoints = all('webhook_endpoint');
  const partners = [...all('partner'), ...endpoints.map(ownerOf)];
  const [slugs, partnerIds] = [partners.filter((id) => !isUuid(id)), partners.filter(isUuid)];
  const read = (select: typeof selectUserNames, kind: string): Promise<NamedRow[]> | [] => {
    const ids = all(kind).filter(isUuid);
    return ids.length > 0 ? select(sql, { ids, partnerId }) : [];
  };
  const [merchants, keys, users, named] = await Promise.all([
    read(selectMerchantNames, 'merchant'),
    read(selectKeyNames, 'key'),
    read(selectUserNames, 'user'),
    partners.length > 0 ? selectPartnerNames(sql, { ids: partnerIds, slugs, partnerId }) : [],
  ]);
  const names = new Map<string, ObjectName>();
  for (const [kind, found] of Object.entries({ merchant: merchants, key: keys, user: users })) {
    for (const { id, name } of found) if (name !== null) names.set(`${kind} ${id}`, { name });
  }
  for (const { id, slug, name } of named) {
    for (const key of [id, slug]) names.set(`partner ${key}`, { name, slug });
    for (const endpoint of endpoints) if (ownerOf(endpoint) === id) names.set(`webhook_endpoint ${endpoint}`, { name });
  }
  return names;
}

/** An endpoint is named by its partner and its mode. */
const ownerOf = (endpoint: string) => endpoint.split('/', 1)[0] as string;
