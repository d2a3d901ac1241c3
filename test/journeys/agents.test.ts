import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { PaymentRequired } from '../../src/checkout/agents/contract.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { randomAddress } from '../support/fixtures.ts';
import { startReceiver } from '../support/net/receiver.ts';
import { agentOf, ask, askUntilMined } from '../support/payments/agent.ts';
import { type AgentFixtures, agentFixtures } from '../support/payments/agent-fixtures.ts';
import { visit } from '../support/people/forms.ts';
import { until } from '../support/until.ts';

let fixtures: AgentFixtures;
before(async () => {
  fixtures = await agentFixtures();
});
after(() => fixtures?.stop());

type Made = Awaited<ReturnType<AgentFixtures['request']>>;

/** What a link requires as payment, once the service offers it. */
async function required(request: Made): Promise<PaymentRequired> {
  const answer = await ask(request.url);
  assert.equal(answer.status, 402, JSON.stringify(answer.json));
  return answer.required ?? assert.fail('no requirements');
}

test('GET of a pay page as JSON → 402 with what is due, to whom, for what, on each network; nothing is opened', async () => {
  const request = await fixtures.request({ memo: 'Two loaves\nand a cake' });
  const answer = await ask(request.url);
  assert.equal(answer.status, 402);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(answer.headers.get('vary'), 'accept');
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const usdc = fixtures.chain.tokens[0]?.address;
  assert.deepEqual(answer.required, {
    x402Version: 2,
    error: 'PAYMENT-SIGNATURE header is required',
    resource: {
      url: request.url,
      description: 'Payment of €12.50 to Ada’s Bakery for: Two loaves and a cake',
      mimeType: 'application/json',
    },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:31337',
        amount: request.usdc_micro,
        asset: usdc,
        payTo: fixtures.merchant.wallet,
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
  });
  const { ok, message, ...body } = answer.json;
  assert.deepEqual([ok, typeof message], [false, 'string']);
  assert.deepEqual(body.accepts, answer.required?.accepts);
  assert.deepEqual([body.request_id, body.status, body.payee], [request.id, 'requested', 'Ada’s Bakery']);
  assert.deepEqual(
    Object.keys(body).filter((name) => /customer|metadata|account|partner/.test(name)),
    [],
  );
  assert.equal((await fixtures.read(request)).status, 'requested');
});

test('Browsers, link previews and programs that name no type get the page, which says that it varies', async () => {
  const request = await fixtures.request();
  for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', '*/*', '']) {
    const page = await visit(request.url, { headers: { accept, 'user-agent': 'Slackbot 1.0' } });
    assert.equal(page.status, 200);
    assert.match(page.html, /<!doctype html>/i);
    assert.match(page.headers.get('vary') ?? '', /\baccept\b/);
  }
  await visit(request.url, {
    headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  });
  assert.equal((await fixtures.read(request)).status, 'opened');
});

test('The client of x402 pays → 200 once it is mined, verified, one event for the partner, and the money is taken once', async () => {
  const receiver = await startReceiver();
  await setUrl(fixtures.ctx, theService, fixtures.scope, receiver.url);
  const request = await fixtures.request();
  const payer = await fixtures.payer();
  const agent = agentOf(payer.privateKey);
  const before = await fixtures.relayed();
  const answer = await agent.pay(request.url);
  assert.equal(answer.status, 200, JSON.stringify(answer.json));
  const { success, transaction, network, payer: by, amount } = answer.settlement ?? assert.fail('no settlement');
  assert.deepEqual([success, network, by, amount], [true, 'eip155:31337', payer.address, request.usdc_micro]);
  assert.equal(((await fixtures.rpc('eth_getTransactionReceipt', [transaction])) as { status: string }).status, '0x1');

  await fixtures.node.mine(2);
  await until(async () => (await fixtures.read(request)).proof_status === 'verified', 'the request to be verified');
  const verified = await fixtures.read(request);
  assert.deepEqual([verified.tx_hash, verified.payer_address], [transaction, payer.address]);
  await until(async () => receiver.received.length > 0, 'the event');
  assert.ok(receiver.received[0]?.body.includes(request.id));
  const asked = await ask(request.url);
  assert.deepEqual([asked.status, asked.json.proof_status], [200, 'verified']);
  assert.deepEqual(asked.json.payments, [
    { network: 'eip155:31337', transaction, usdc_micro: request.usdc_micro, final: true },
  ]);
  assert.equal(await fixtures.relayed(), before + 1);
  await receiver.close();
});

test('A header sent again → the same settlement, however often and whenever', async () => {
  const request = await fixtures.request();
  const agent = agentOf((await fixtures.payer()).privateKey);
  const header = await agent.sign(await required(request));
  const before = await fixtures.relayed();
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(request.url, header)));
  const [first] = answers;
  assert.deepEqual(
    answers.map(({ status, settlement }) => [status, settlement]),
    answers.map(() => [200, first?.settlement]),
  );
  await fixtures.node.mine(2);
  await until(async () => (await fixtures.read(request)).proof_status === 'verified', 'the request to be verified');
  const late = await ask(request.url, header);
  assert.deepEqual([late.status, late.settlement], [200, first?.settlement]);
  assert.equal(await fixtures.relayed(), before + 1);
});

test('While no block comes → 202 with the transaction, and no other payment is requested or accepted; then the same one counts', async () => {
  const request = await fixtures.request();
  const agent = agentOf((await fixtures.payer()).privateKey);
  const terms = await required(request);
  const header = await agent.sign(terms);
  const rival = agentOf((await fixtures.payer()).privateKey);
  await fixtures.rpc('evm_setAutomine', [false]);
  const leaving = new AbortController();
  const gone = fetch(request.url, { headers: header, signal: leaving.signal }).catch((error: Error) => error.name);
  await until(async () => {
    const rows = await fixtures.db
      .sql`select from relay_transactions where subject_id = ${request.id} and state = 'sent'`;
    return rows.length > 0;
  }, 'the payment to be sent');
  leaving.abort(); // a lost connection
  assert.equal(await gone, 'AbortError');
  const plain = await ask(request.url);
  assert.deepEqual([plain.status, plain.required, plain.settlement], [202, null, null]);
  const other = await ask(request.url, await rival.sign(terms));
  assert.deepEqual([other.status, other.settlement?.errorReason], [202, 'other_payment']);
  const waiting = ask(request.url, header);
  await fixtures.rpc('evm_setAutomine', [true]);
  await fixtures.node.mine(1);
  const answer = await waiting;
  assert.deepEqual([answer.status, answer.settlement?.success], [200, true]);
  await until(async () => (await fixtures.read(request)).proof_status !== 'none', 'the request to be attached');
});

test('Two clients at once → one is taken, and the other keeps its money', async () => {
  const request = await fixtures.request();
  const terms = await required(request);
  const payers = await Promise.all([fixtures.payer(20_000_000n), fixtures.payer(20_000_000n)]);
  const headers = await Promise.all(payers.map(({ privateKey }) => agentOf(privateKey).sign(terms)));
  const before = await fixtures.relayed();
  const answers = await Promise.all(headers.map((header) => ask(request.url, header)));
  const taken = answers.filter(({ settlement }) => settlement?.success);
  assert.equal(taken.length, 1, JSON.stringify(answers.map(({ json }) => json)));
  const left = answers.find(({ settlement }) => !settlement?.success);
  assert.equal(left?.settlement?.errorReason, 'other_payment');
  assert.ok([200, 202].includes(left?.status ?? 0));
  assert.equal(await fixtures.relayed(), before + 1);
});

test('a payment header sent to a second request → refused, because it belongs to the first', async () => {
  const payer = await fixtures.payer();
  const [first, second] = [await fixtures.request(), await fixtures.request()];
  const header = await agentOf(payer.privateKey).sign(await required(first));
  assert.equal((await askUntilMined(first.url, header)).status, 200);
  const terms = await required(second);
  const elsewhere = await ask(second.url, header);
  assert.deepEqual([elsewhere.status, elsewhere.json.error], [402, 'invalid_payment_requirements']);

  // The same authorization, dressed up as the other request's.
  const [accepted] = terms.accepts;
  const envelope = JSON.parse(Buffer.from(Object.values(header)[0] ?? '', 'base64').toString());
  const dressed = { ...envelope, resource: terms.resource, accepted };
  const forged = await ask(second.url, {
    'payment-signature': Buffer.from(JSON.stringify(dressed)).toString('base64'),
  });
  assert.deepEqual([forged.status, forged.json.error], [402, 'invalid_exact_evm_payload_authorization_value_mismatch']);
  assert.equal((await fixtures.read(second)).proof_status, 'none');
});

test('Wrong amount, wallet, network, time or signature → 402 with the code of x402, and nothing is sent', async () => {
  const request = await fixtures.request();
  const terms = await required(request);
  const agent = agentOf((await fixtures.payer()).privateKey);
  const before = await fixtures.relayed();
  const good = Object.values(await agent.sign(terms))[0] ?? '';
  type Envelope = { accepted: object; payload: { signature: string; authorization: Record<string, string> } };
  const alter = (change: (envelope: Envelope) => unknown) => {
    const envelope = JSON.parse(Buffer.from(good, 'base64').toString()) as Envelope;
    change(envelope);
    return { 'payment-signature': Buffer.from(JSON.stringify(envelope)).toString('base64') };
  };
  const now = Math.floor(Date.now() / 1000);
  const authorization = (change: Record<string, string>) =>
    alter(({ payload }) => Object.assign(payload.authorization, change));
  const cases: [header: Record<string, string>, code: string][] = [
    [await agent.sign(terms, { amount: '13586956' }), 'invalid_payment_requirements'],
    [await agent.sign(terms, { payTo: randomAddress() as `0x${string}` }), 'invalid_payment_requirements'],
    [await agent.sign(terms, { network: 'eip155:31338' }), 'invalid_network'],
    [alter(({ accepted }) => Object.assign(accepted, { scheme: 'upto' })), 'unsupported_scheme'],
    [authorization({ value: '13586956' }), 'invalid_exact_evm_payload_authorization_value_mismatch'],
    [authorization({ to: randomAddress() }), 'invalid_exact_evm_payload_recipient_mismatch'],
    [authorization({ validBefore: String(now - 1) }), 'invalid_exact_evm_payload_authorization_valid_before'],
    [authorization({ validBefore: String(now + 86_400) }), 'invalid_exact_evm_payload_authorization_valid_before'],
    [authorization({ validAfter: String(now + 60) }), 'invalid_exact_evm_payload_authorization_valid_after'],
    [authorization({ from: randomAddress() }), 'invalid_exact_evm_payload_signature'],
  ];
  for (const [header, code] of cases) {
    const answer = await ask(request.url, header);
    assert.deepEqual([answer.status, answer.json.error, answer.required?.error], [402, code, code]);
    assert.deepEqual(
      answer.required?.accepts.map(({ amount }) => amount),
      [request.usdc_micro],
    );
  }
  assert.equal(await fixtures.relayed(), before);
});

test('A wallet without the money → 402 insufficient_funds; once it holds it, the same header pays', async () => {
  const request = await fixtures.request();
  const payer = await fixtures.payer(1_000_000n);
  const header = await agentOf(payer.privateKey).sign(await required(request));
  const refused = await ask(request.url, header);
  assert.deepEqual([refused.status, refused.json.error, refused.settlement], [402, 'insufficient_funds', null]);
  await fixtures.node.fund(payer.address, 20_000_000n);
  assert.equal((await askUntilMined(request.url, header)).status, 200);
});

test('A header that is malformed or too long → 400 or 431; one of version 1 → 402 that names the version', async () => {
  const request = await fixtures.request();
  await required(request);
  for (const text of ['!', Buffer.from('{}{}').toString('base64'), 'A'.repeat(9_000)]) {
    const answer = await ask(request.url, { 'payment-signature': text });
    assert.deepEqual([answer.status, answer.json.error], [400, 'invalid_payload']);
  }
  assert.equal((await visit(request.url, { headers: { 'payment-signature': 'A'.repeat(20_000) } })).status, 431);
  const old = Buffer.from(JSON.stringify({ x402Version: 1, scheme: 'exact', network: 'base', payload: {} })).toString(
    'base64',
  );
  for (const name of ['x-payment', 'payment-signature']) {
    const answer = await ask(request.url, { [name]: old });
    assert.deepEqual(
      [answer.status, answer.json.error, answer.required?.x402Version],
      [402, 'invalid_x402_version', 2],
    );
  }
});

test('After a partial payment the rest is due, and a payment of the whole is refused', async () => {
  const request = await fixtures.request();
  const whole = await required(request);
  const payer = fixtures.node.wallet();
  const { wallet_address: to, reference } = request;
  await fixtures.node.pay({ from: payer, to, usdcMicro: 5_000_000n, reference });
  const rest = (BigInt(request.usdc_micro) - 5_000_000n).toString();
  await until(async () => (await ask(request.url)).required?.accepts[0]?.amount === rest, 'the rest to be asked for');
  const agent = agentOf((await fixtures.payer()).privateKey);
  const refused = await ask(request.url, await agent.sign(whole));
  assert.deepEqual([refused.status, refused.json.error], [402, 'invalid_payment_requirements']);
  const paid = await agent.pay(request.url);
  assert.deepEqual([paid.status, paid.settlement?.amount], [200, rest]);
  await until(async () => (await fixtures.read(request)).proof_status !== 'none', 'the request to be paid');
});

test('Expired and cancelled → 410 and plain JSON, also with a payment; unknown → 404', async () => {
  const [expired, voided] = [await fixtures.request(), await fixtures.request()];
  const agent = agentOf((await fixtures.payer()).privateKey);
  const header = await agent.sign(await required(expired));
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${expired.id}`;
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, voided.id);
  for (const [url, headers, error, status] of [
    [expired.url, {}, 'expired', 410],
    [expired.url, header, 'expired', 410],
    [voided.url, {}, 'voided', 410],
    [expired.url.replace(/.{4}$/, '0000'), {}, 'not_found', 404],
    [expired.url.replace(/.{4}$/, 'zzzz'), {}, 'not_found', 404],
  ] as const) {
    const answer = await ask(url, headers);
    assert.deepEqual([answer.status, answer.json.error, answer.json.ok], [status, error, false]);
  }
  const paid = await agent.pay(voided.url);
  assert.equal(paid.status, 410, 'a client of x402 hands it on');
});

test('Another method, a slash at the end, or a broken address → the error is JSON for a program, and a page for a browser', async () => {
  const { url } = await fixtures.request();
  for (const [method, address, status, error, forBrowsers] of [
    ['POST', url, 405, 'method_not_allowed', 405],
    ['OPTIONS', url, 405, 'method_not_allowed', 405],
    ['GET', `${url}/`, 404, 'not_found', 200], // led to the page
    ['GET', `${url}%E0`, 404, 'not_found', 404],
  ] as const) {
    const ofPrograms: Record<string, string>[] = [{ accept: 'application/json' }, { 'payment-signature': 'AAAA' }];
    for (const headers of ofPrograms) {
      const answer = await fetch(address, { method, headers });
      const { ok, ...json } = (await answer.json()) as Record<string, unknown>;
      assert.deepEqual([answer.status, ok, json.error], [status, false, error], `${method} ${address}`);
      assert.equal(answer.headers.get('allow'), status === 405 ? 'GET, HEAD' : null);
    }
    const page = await fetch(address, { method, headers: { accept: 'text/html' } });
    assert.deepEqual([page.status, page.headers.get('content-type')], [forBrowsers, 'text/html; charset=utf-8']);
  }
});

test('Less than a minute left, a budget that is spent, or too little to be worth the fee → 503 in a sentence, and no requirements', async () => {
  const agent = agentOf((await fixtures.payer()).privateKey);
  const late = await fixtures.request();
  await fixtures.db.sql`update requests set expires_at = now() + interval '50 seconds' where id = ${late.id}`;
  const small = await fixtures.request({ fiatInt: 50, exactMicro: 543_479n });
  for (const { url } of [late, small]) {
    const answer = await agent.pay(url);
    assert.deepEqual([answer.status, answer.json.error, answer.required], [503, 'not_payable_now', null]);
  }
  const request = await fixtures.request();
  const header = await agent.sign(await required(request));
  await fixtures.db.sql`
    insert into relay_spending (partner_id, test_mode, chain_id, day, wei)
    values (${fixtures.partner.id}, true, 31337, (now() at time zone 'utc')::date, ${10n ** 30n})
    on conflict (partner_id, test_mode, chain_id, day) do update set wei = excluded.wei`;
  for (const headers of [{}, header]) {
    const answer = await ask(request.url, headers);
    assert.deepEqual([answer.status, answer.json.error, answer.required], [503, 'not_payable_now', null]);
    assert.match(answer.json.message, /ordinary transfer/);
  }
  await fixtures.db.sql`delete from relay_spending where partner_id = ${fixtures.partner.id}`;
  assert.equal((await askUntilMined(request.url, header)).status, 200, 'the same header, once there is a budget again');
});

test('Too many headers for one request from one client → 429', async () => {
  const request = await fixtures.request();
  const answers = [];
  // More than two minutes' worth, because the count starts again with each minute.
  for (let i = 0; i < 21; i++) answers.push((await ask(request.url, { 'payment-signature': 'AAAA' })).status);
  assert.ok(answers.includes(429), answers.join());
  assert.equal((await ask(request.url)).status, 402, 'without one it can be read');
});
