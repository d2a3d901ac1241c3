import { createMerchantSession } from '../../../src/auth/merchant-session.ts';
import type { Context } from '../../../src/context.ts';
import type { Scope } from '../../../src/db/connection.ts';
import { buildServer } from '../../../src/http/server.ts';
import type { NewRequest } from '../../../src/requests/store.ts';
import { makeRequest, setRate } from '../fixtures.ts';
import { type PayFixtures, payFixtures } from '../payments/pay-fixtures.ts';
import type { Visit } from './forms.ts';
import { makeOnboarded } from './merchants.ts';
import { startVisitor, type Visitor } from './visitor.ts';

type Paid = { id: string; wallet: string };

/** The cookie of a signed-in merchant, without going through sign-in. */
export function sessionOf(ctx: Context, scope: Scope, merchant: Paid): Promise<string> {
  const subject = { scope, accountId: merchant.id, walletAddress: merchant.wallet };
  return createMerchantSession(ctx, subject, { ip: '127.0.0.1', userAgent: 'Desk' }, null);
}

/** Opens the refund page of a payment, and takes the payment if the page asks for it. */
export async function openRefund(visitor: Visitor, name: string): Promise<Visit> {
  const page = await visitor.open(`/dashboard/give-back/${name}`);
  return page.html.includes('/take"') ? visitor.send(page, '/take') : page;
}

/** A real chain, a real server on it, and a signed-in merchant. Payments are matched only when a test says so. */
export async function dashboardFixtures() {
  const fixtures: PayFixtures = await payFixtures();
  const { ctx, scope, node } = fixtures;
  await setRate(fixtures.db, 'EUR', '0.92');
  const app = await buildServer(ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const signedIn = async (of: Scope, merchant: Paid): Promise<Visitor> => {
    const visitor = startVisitor(url);
    visitor.cookies.set('dashboard-session', await sessionOf(ctx, of, merchant));
    return visitor;
  };
  const merchant = await makeOnboarded(ctx, scope);
  return {
    ...fixtures,
    url,
    merchant,
    visitor: await signedIn(scope, merchant),
    signedIn,
    /** A request of the merchant, made at the chain's current block. */
    request: async (details: Partial<NewRequest> = {}) => {
      const [row] = await fixtures.db.sql<{ number: string }[]>`
        select number from chain_cursors where chain_id = ${node.chain.chainId}`;
      const startBlocks = { [node.chain.chainId]: Number(row?.number ?? 0) };
      return makeRequest(fixtures.db, scope, merchant, { startBlocks, ...details });
    },
    /** The partner's audit entries, oldest first. */
    audit: () =>
      fixtures.db.sql<{ action: string; actor_kind: string; actor_name: string; object_id: string; details: string }[]>`
        select action, actor_kind, actor_name, object_id, details from audit_log
        where partner_id = ${scope.partnerId} order by number`,
    stop: async () => {
      await app.close();
      await fixtures.stop();
    },
  };
}

export type DashboardFixtures = Awaited<ReturnType<typeof dashboardFixtures>>;
