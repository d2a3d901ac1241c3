import { createMerchantSession } from '../../../src/auth/session.ts';
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

/** The cookie of a merchant that is signed in, without the way there. */
export function sessionOf(ctx: Context, scope: Scope, merchant: Paid): Promise<string> {
  const subject = { scope, accountId: merchant.id, walletAddress: merchant.wallet };
  return createMerchantSession(ctx, subject, { ip: '127.0.0.1', userAgent: 'Desk' }, null);
}

/** The page that gives a payment back, with the payment taken. */
export async function openRefund(visitor: Visitor, name: string): Promise<Visit> {
  const page = await visitor.open(`/dashboard/give-back/${name}`);
  return page.html.includes('/take"') ? visitor.send(page, '/take') : page;
}

/** A real chain and a real server on it, with a merchant that is signed in; payments are judged when a test says so. */
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
    /** A request of the merchant made at the chain's present block. */
    request: async (details: Partial<NewRequest> = {}) => {
      const [row] = await fixtures.db.sql<{ number: string }[]>`
        select number from chain_cursors where chain_id = ${node.chain.chainId}`;
      const startBlocks = { [node.chain.chainId]: Number(row?.number ?? 0) };
      return makeRequest(fixtures.db, scope, merchant, { startBlocks, ...details });
    },
    /** What the audit log of the partner says, the oldest first. */
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
