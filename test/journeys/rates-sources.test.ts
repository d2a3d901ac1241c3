import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { currencyExponent } from '../../src/lib/money.ts';
import { rateSources, type SourceBases } from '../../src/rates/providers.ts';
import type { RateSource } from '../../src/rates/source.ts';

/** The public sources' answers, served locally in their documented formats. */
const answers = new Map<string, string | RequestListener>();
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(request.url ?? '');
  const answer = answers.get(request.url ?? '') ?? answers.get('*');
  if (typeof answer === 'function') return answer(request, response);
  response.statusCode = answer === undefined ? 404 : 200;
  response.end(answer ?? '{"message":"no such page"}');
});
let bases: SourceBases;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bases = { coinbase: base, kraken: base, coingecko: base, bitstamp: base };
});
beforeEach(() => {
  answers.clear();
  asked.length = 0;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function source(name: string): RateSource {
  return rateSources([name], bases)[0] as RateSource;
}
async function fetchAll(name: string, codes: string[], signal = new AbortController().signal) {
  return Object.fromEntries(await source(name).fetchRates(codes, signal));
}

test('coinbase: one answer with many currencies, exact strings', async () => {
  answers.set(
    '/v2/exchange-rates?currency=USDC',
    '{"data":{"currency":"USDC","rates":{"EUR":"0.920000000000000001","JPY":"154.05","KWD":"0.3065","DOGE":"5.1"}}}',
  );
  assert.deepEqual(await fetchAll('coinbase', ['EUR', 'JPY', 'GBP']), { EUR: '0.920000000000000001', JPY: '154.05' });
});

test('coinbase: an answer about another currency is refused', async () => {
  answers.set('*', '{"data":{"currency":"BTC","rates":{"EUR":"90000"}}}');
  await assert.rejects(fetchAll('coinbase', ['EUR']), /another currency/);
});

test('kraken: the mid-price of ask and bid; only pairs that it trades are requested', async () => {
  answers.set(
    '/0/public/Ticker?pair=USDCUSD,USDCEUR',
    '{"error":[],"result":{"USDCUSD":{"a":["1.0001","1","1.000"],"b":["0.9999","1","1.000"],"c":["2.0","1"]},' +
      '"USDCEUR":{"a":["0.9202","1","1.000"],"b":["0.9199","1","1.000"]}}}',
  );
  assert.deepEqual(await fetchAll('kraken', ['EUR', 'USD', 'JPY']), { USD: '1', EUR: '0.92005' });
  assert.equal(asked.length, 1);
});

test('kraken: an error in its answer is an error', async () => {
  answers.set('*', '{"error":["EGeneral:Too many requests"]}');
  await assert.rejects(fetchAll('kraken', ['EUR']), /Too many requests/);
});

test('coingecko: JSON numbers keep their digits, exponents included', async () => {
  answers.set(
    '/api/v3/simple/price?ids=usd-coin&precision=full&vs_currencies=eur%2Cvnd%2Ckwd%2Cxyz',
    '{"usd-coin":{"eur":0.92000000000000001234,"vnd":2.635e+4,"kwd":3.065E-1}}',
  );
  const rates = await fetchAll('coingecko', ['EUR', 'VND', 'KWD', 'XYZ']);
  assert.deepEqual(rates, { EUR: '0.920000000000000012', VND: '26350', KWD: '0.3065' });
});

test('bitstamp: one document per pair', async () => {
  answers.set('/api/v2/ticker/usdcusd/', '{"last":"1.1","ask":"1.0002","bid":"1.0000"}');
  answers.set('/api/v2/ticker/usdceur/', '{"last":"1.1","ask":"0.9201","bid":"0.9199"}');
  assert.deepEqual(await fetchAll('bitstamp', ['EUR', 'JPY', 'USD']), { USD: '1.0001', EUR: '0.92' });
});

test('kraken and bitstamp: nobody trades, so that ask and bid are far apart → no rate instead of their middle', async () => {
  const ticker = (ask: string, bid: string) => `{"a":["${ask}","1","1.000"],"b":["${bid}","1","1.000"]}`;
  answers.set(
    '/0/public/Ticker?pair=USDCUSD,USDCEUR',
    `{"error":[],"result":{"USDCUSD":${ticker('1.01', '0.99')},"USDCEUR":${ticker('90', '0.01')}}}`,
  );
  assert.deepEqual(await fetchAll('kraken', ['USD', 'EUR']), { USD: '1' });
  answers.set('/api/v2/ticker/usdcusd/', '{"ask":"1.0101","bid":"0.99"}');
  answers.set('/api/v2/ticker/usdceur/', '{"ask":"0.9201","bid":"0.9199"}');
  assert.deepEqual(await fetchAll('bitstamp', ['USD', 'EUR']), { EUR: '0.92' });
});

for (const name of ['coinbase', 'kraken', 'coingecko', 'bitstamp']) {
  test(`${name}: no 200, no JSON, another shape, nonsense numbers, a redirect → an error`, async () => {
    await assert.rejects(fetchAll(name, ['EUR']), /404/);
    const bad = [
      '<html>',
      '[]',
      'null',
      '{"error":[],"data":{"currency":"USDC","rates":{"EUR":"-1"}}}',
      '{"error":[]}',
    ];
    for (const text of bad) {
      answers.set('*', text);
      await assert.rejects(fetchAll(name, ['EUR']), text);
    }
    answers.set('*', (_request, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await assert.rejects(fetchAll(name, ['EUR']));
    assert.ok(!asked.includes('/elsewhere'));
  });

  test(`${name}: an endless answer is cut off`, async () => {
    let cut: () => void;
    const closed = new Promise<void>((resolve) => {
      cut = resolve;
    });
    answers.set('*', (_request, response) => {
      response.on('close', () => cut());
      response.on('error', () => {});
      const pump = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 32)));
        if (!response.destroyed) response.once('drain', pump);
      };
      pump();
    });
    await assert.rejects(fetchAll(name, ['EUR']), /more than 1048576 bytes/);
    await closed;
  });

  test(`${name}: a silent server is left when the signal says so`, async () => {
    const leave = new AbortController();
    answers.set('*', () => leave.abort(new Error('enough')));
    await assert.rejects(fetchAll(name, ['EUR'], leave.signal), /enough/);
  });
}

test('fixed: at least the 30 most used currencies, all of them real, without network', async () => {
  const used = (
    'USD EUR JPY GBP CNY AUD CAD CHF HKD SGD SEK KRW NOK NZD INR MXN TWD ZAR BRL DKK ' +
    'PLN THB ILS IDR CZK AED TRY HUF CLP SAR PHP MYR COP RON PEN KWD NGN KES VND EGP'
  ).split(' ');
  const rates = await source('fixed').fetchRates(used, new AbortController().signal);
  assert.deepEqual([...rates.keys()].sort(), used.toSorted());
  for (const code of rates.keys()) assert.notEqual(currencyExponent(code), null, code);
  assert.equal(rates.get('USD'), '1');
  assert.equal(asked.length, 0);
});

test('an unknown source is refused by name', () => {
  assert.throws(() => rateSources(['bourse']), /no rate source "bourse"/);
});
