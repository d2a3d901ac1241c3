import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { formatMicro } from '../../src/lib/money.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest, randomAddress } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

// Everybody can read the reference in the customer's transaction, so dust that names a request must not hide anything.

let app: Awaited<ReturnType<typeof startApp>>;
let scope: Scope;
let owner: Visitor;
let merchant: { id: string; wallet: string };
const chain = idleChain(31_337);
before(async () => {
  app = await startApp({ chains: { test: [chain], live: [] } });
  const { partner, test } = await makePartner(app.db);
  scope = test;
  merchant = await makeMerchant(app.db, scope);
  owner = await portalVisitor(app.ctx, app.url, partner.id);
});
after(() => app?.stop());

/** Stores a judged payment and, after it, forty transfers of one micro unit each; all name the request. */
async function storeUnmatched(request: RequestRow, reason: 'late' | 'already_paid'): Promise<string> {
  const real = `0x${'a'.repeat(64)}`;
  await app.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, candidate_request_id, judged_at, final_at)
    select ${chain.chainId}, case when n = 0 then ${real} else '0x' || lpad(to_hex(n), 64, '0') end, ${reason === 'late' ? 0 : 1},
      n + 1, '0x', date_trunc('second', now()) + n * interval '1 second', ${chain.tokens[0]?.address ?? ''}, ${randomAddress()},
      ${merchant.wallet}, case when n = 0 then ${request.usdc_micro}::numeric else 1 end, ${scope.partnerId}, true,
      ${merchant.id}, ${reason}, ${request.id}, now(), now() from generate_series(0, 40) n`;
  return real;
}

const textOf = ({ html }: { html: string }) =>
  html
    .replace(/<style.*?<\/style>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('Money that came too late, then dust that names the request → page and timeline still tell of the money', async () => {
  const request = await makeRequest(app.db, scope, merchant);
  await app.db
    .sql`update requests set status = 'expired', expires_at = now() - interval '2 hours' where id = ${request.id}`;
  const real = await storeUnmatched(request, 'late');
  const told = textOf(await startVisitor(app.url).open(`/pay/${request.id}`));
  assert.ok(told.includes(`${formatMicro(BigInt(request.usdc_micro))} USDC arrived`), told);
  assert.ok((await owner.open(`/portal/requests/${request.id}`)).html.includes(real));
});

test('A second payment, then dust that names the request → the page shows the payment', async () => {
  const request = await makeRequest(app.db, scope, merchant);
  await app.db.sql`
    update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0x', payer_address = '0x',
      asset_id = 'eip155:31337/erc20:0x' where id = ${request.id}`;
  const real = await storeUnmatched(request, 'already_paid');
  const told = textOf(await startVisitor(app.url).open(`/pay/${request.id}`));
  assert.ok(told.includes(`A second payment of ${formatMicro(BigInt(request.usdc_micro))} USDC arrived`), told);
  assert.ok((await owner.open(`/portal/requests/${request.id}`)).html.includes(real));
});
