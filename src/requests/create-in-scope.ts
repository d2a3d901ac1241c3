import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { withAuditIn } from '../audit/write.ts';
import { compileCheck } from '../auth/validate.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import type { SecretKey } from '../lib/encrypt.ts';
import { CreateRequest } from './contract.ts';
import { createRequest } from './create.ts';
import { selectCreateFacts, selectExpiries } from './create-in-scope-store.ts';
import { type CreateFields, invoiceExpiryMinutes, isIdempotencyKey } from './rules.ts';
import type { RequestRow } from './store.ts';

const checkFields = compileCheck(CreateRequest);

type ManualFields = CreateFields & { idempotency_key: string };
type More = { id?: string; referenceKey?: SecretKey; keyOrder?: Map<string, string[]>; allowedMinutes?: number[] };
type Created = { row: RequestRow; replayed: boolean };

/**
 * The key under which the request of a form is stored. Whoever sends the form chooses its key, so it must never be one
 * that the partner's API calls use.
 */
function keyOfForm(key: string): string {
  if (!isIdempotencyKey(key)) throw refuse('invalid_idempotency_key');
  return createHash('sha256').update(`form ${key}`).digest('base64url');
}

/**
 * Creates a request for a merchant at a page, as `createInScope` does, and writes it into the audit log unless it was
 * created before.
 *
 * @param fields `idempotency_key` keeps a form that is sent twice from creating two requests
 * @throws Refusal as `createInScope`
 */
export async function createManually(ctx: Context, actor: Actor, scope: Scope, fields: ManualFields): Promise<Created> {
  const idempotency_key = keyOfForm(fields.idempotency_key);
  return withAuditIn(
    ctx,
    scope,
    actor,
    (inner) => createInScope(inner, scope, { ...fields, idempotency_key }),
    ({ row, replayed }) =>
      replayed
        ? null
        : {
            ...scope,
            action: 'request.created',
            object: { kind: 'request', id: row.id },
            details: { amount: Number(row.fiat_int), currency: row.fiat_code, payment_mode: row.payment_mode },
          },
  );
}

/**
 * Creates a request for a merchant or for a plan: the same call as by API, with the same rules and reserved amount,
 * without a key. Its `created_at` is known once the surrounding transaction has committed.
 *
 * @param more `id`: the request's; `referenceKey`: the key that makes its reference; `keyOrder`: the keys of `metadata`
 * in the order written; `allowedMinutes`: values of `expiry_minutes` that are allowed whatever the partner has chosen
 * @throws Refusal partner_disabled, and everything that `createRequest` refuses
 */
export async function createInScope(
  ctx: Context,
  scope: Scope,
  fields: CreateFields,
  { id = randomUUIDv7(), referenceKey, keyOrder = new Map(), allowedMinutes = [] }: More = {},
): Promise<Created> {
  const body: Record<string, unknown> = { ...fields };
  const facts = await selectCreateFacts(ctx.db.sql, scope, body);
  if (facts.disabled) throw refuse('partner_disabled');
  const caller = {
    scope,
    currency: facts.currency,
    allowedExpiryMinutes: [...facts.allowed_expiry_minutes, ...allowedMinutes],
    defaultExpiryMinutes: facts.default_expiry_minutes,
  };
  const faults = checkFields(body);
  return createRequest(ctx, { id, referenceKey, caller, facts, body, keyOrder, faults, ordered: 'at commit' });
}

/** How long a manual request may last, in minutes. */
export type Expiries = {
  /** The choice; some only for an invoice. */
  allowed: number[];
  /** Without a choice. */
  usual: { pos: number; invoice: number };
};

/** The expiry times that a manual request may have. */
export async function readExpiries(ctx: Context, scope: Scope): Promise<Expiries> {
  const { allowed, usual } = await selectExpiries(ctx.db.sql, scope);
  return {
    allowed: [...new Set([...allowed, invoiceExpiryMinutes])].sort((a, b) => a - b),
    usual: { pos: usual, invoice: invoiceExpiryMinutes },
  };
}
