import { createHash } from 'node:crypto';

/** A row of the log without its place in the chain. */
export type Entry = {
  partner_id: string;
  at: Date;
  test_mode: boolean | null;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string;
  action: string;
  object_kind: string;
  object_id: string;
  ip: string | null;
  user_agent: string | null;
  /** JSON, exactly as it is stored. */
  details: string;
};

/** Stands for the hash of the row before the first one of every chain. */
export const noHash = Buffer.alloc(32);

/** The text of a row that its hash covers, so that every change to the row is detected. */
export function contentOf(entry: Entry): string {
  return JSON.stringify([
    entry.partner_id,
    entry.at.toISOString(),
    entry.test_mode,
    entry.actor_kind,
    entry.actor_id,
    entry.actor_name,
    entry.action,
    entry.object_kind,
    entry.object_id,
    entry.ip,
    entry.user_agent,
    entry.details,
  ]);
}

/** The hash of the entry with this number. The statement that appends an entry computes the same. */
export function hashOf(previous: Uint8Array, number: bigint, entry: Entry): Buffer {
  return createHash('sha256')
    .update(previous)
    .update(`${number}\n${contentOf(entry)}`)
    .digest();
}

/** API keys, signing secrets, and long random texts; addresses and transaction hashes stay. */
const secretPatterns = [
  /qt_(?:test|live)_[0-9A-Za-z]+/g,
  /whsec_[\w+/=-]+/g,
  /(?<![\w+/=-])(?!0x[0-9a-f]+\b)[\w+/=-]{43,}/gi,
];

/** Details as JSON. What looks like a secret is left out, whatever it was called. */
export function detailsJson(details: Record<string, unknown>): string {
  return JSON.stringify(details, (_, value: unknown) =>
    typeof value === 'string'
      ? secretPatterns.reduce((text, pattern) => text.replace(pattern, '[left out]'), value)
      : value,
  );
}
