import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { byLink } from '../../src/plans/collection-form.ts';
import { createPlan } from '../../src/plans/create.ts';
import type { NewPlan } from '../../src/plans/form.ts';
import type { PlanRow } from '../../src/plans/read.ts';

const running = new AbortController().signal;

/** The same context at a different time. */
export const at = (ctx: Context, time: string): Context => ({ ...ctx, clock: { now: () => new Date(time) } });

/** Runs the loop once at that time. Returns how many charges it made. */
export const turnAt = (ctx: Context, time: string): Promise<number> => chargeDue(at(ctx, time), running);

/** A plan in the merchant's currency, started without the form. */
export async function makePlan(
  ctx: Context,
  scope: Scope,
  merchant: { id: string },
  details: Partial<NewPlan> & { currency?: string; language?: string } = {},
): Promise<PlanRow> {
  const { currency = 'EUR', language = 'en', ...fields } = details;
  const plan: NewPlan = {
    name: 'Piano lessons',
    fiatInt: 8000,
    customerName: 'Grace Hopper',
    customerEmail: null,
    customerPhone: null,
    every: 1,
    period: 'month',
    firstOn: '2027-01-31',
    maxCharges: null,
    metadata: '{}',
    ...byLink,
    ...fields,
  };
  const formKey = crypto.randomUUID();
  const made = await createPlan(ctx, theService, scope, plan, { accountId: merchant.id, formKey, currency, language });
  if ('tooMany' in made) throw new Error('this merchant has too many plans');
  return made;
}

/** Stores a plan so many times more. */
export const copyPlan = ({ db }: Pick<Context, 'db'>, { id }: { id: string }, times: number) => db.sql`
  insert into plans select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'form_key', n::text))).*
  from plans p, generate_series(1, ${times}::int) n where p.id = ${id}`;

export type StoredCharge = { number: number; due_on: string; request_id: string };

/** A plan as stored, and its charges, oldest first. */
export async function planOf(ctx: Context, { id }: { id: string }) {
  const [plan] = await ctx.db.sql<PlanRow[]>`
    select *, first_on::text as first_on, next_on::text as next_on from plans where id = ${id}`;
  if (!plan) throw new Error(`no plan ${id}`);
  const charges = await ctx.db.sql<StoredCharge[]>`
    select number, due_on::text as due_on, request_id from plan_charges where plan_id = ${id} order by number`;
  return { plan, charges: [...charges], dates: charges.map(({ due_on }) => due_on) };
}
