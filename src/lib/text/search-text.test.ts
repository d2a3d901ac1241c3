import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSearchText } from './search-text.ts';
import { fiatMeant, readTypedAmounts, usdcMeant } from './typed-amounts.ts';

/** Every fiat amount that a text can mean, as `1250 EUR`, of three currencies with different minor units. */
const fiat = (text: string) => {
  const amounts = readTypedAmounts(text);
  return (amounts ? fiatMeant(amounts) : [])
    .flatMap(({ minor, codes }) => codes.filter((code) => /EUR|JPY|KWD/.test(code)).map((code) => `${minor} ${code}`))
    .sort();
};

test('an amount › read as people type it, in either notation and in their digits', () => {
  const twelveFifty = ['1250 EUR', '12500 KWD'];
  for (const text of ['12.50', '12,50', '12.5', '€12.50', '12,50 €', '١٢٫٥٠', 'US$12.50']) {
    assert.deepEqual(fiat(text), twelveFifty, text);
  }
  const thousand = ['120000 EUR', '1200000 KWD'];
  for (const text of ['1,200.00', '1.200,00', '1 200,00', '1’200.00', '1\u202f200.00']) {
    assert.deepEqual(fiat(text), thousand, text);
  }
  assert.deepEqual(fiat('12.50 eur'), ['1250 EUR']);
  assert.deepEqual(fiat('JPY 1,200'), ['1200 JPY']);
  assert.deepEqual(fiat('1,200'), ['1200 JPY', '1200 KWD', '120000 EUR', '1200000 KWD'], 'both readings');
  assert.deepEqual(fiat('1,20,000'), ['120000 JPY', '12000000 EUR', '120000000 KWD']);
});

test('an amount of USDC › means all that begin as typed, within a cent', () => {
  const usdc = (text: string) => usdcMeant(readTypedAmounts(text) ?? { readings: [], currency: null });
  assert.deepEqual(usdc('14.50'), [{ from: '14500000', to: '14509999' }]);
  assert.deepEqual(usdc('14.501162 USDC'), [{ from: '14501162', to: '14501162' }]);
  assert.deepEqual(usdc('14'), [{ from: '14000000', to: '14009999' }]);
  assert.deepEqual(usdc('14.50 EUR'), []);
  assert.deepEqual(fiat('14.50 USDC'), []);
});

test('a text that is no amount › is not read as one', () => {
  const others = ['', 'A-1042', '12.50.3', '12 XYZ', '1.2.3.4', '--5', 'room 12', '1'.repeat(13), '12 EUR USD'];
  for (const text of others) assert.equal(readTypedAmounts(text), null, text);
});

test('identifiers › read whole, by their beginning, as lists shorten them and out of links', () => {
  const id = '3f2a91bc-0c4e-4a54-9b1e-2f6f1f6a77d0';
  const [hash, address] = [`0x${'aB'.repeat(32)}`, `0x${'Cd'.repeat(20)}`];
  assert.equal(readSearchText(` ${id.toUpperCase()} `).id, id);
  assert.equal(readSearchText(`https://pay.example/pay/${id}/receipt?a=1`).id, id);
  assert.equal(readSearchText(`https://basescan.org/tx/${hash}`).hash, hash.toLowerCase());
  assert.equal(readSearchText(`https://basescan.org/address/${address}#tokentxns`).address, address.toLowerCase());
  const ids = { from: '3f2a91bc-0000-0000-0000-000000000000', to: '3f2a91bc-ffff-ffff-ffff-ffffffffffff', end: '' };
  assert.deepEqual(readSearchText('3F2A91BC').ids, ids);
  assert.deepEqual(readSearchText('3f2a91bc…77d0').ids, { ...ids, end: '77d0' });
  assert.equal(readSearchText('3f2a91bc…7_d%').ids, undefined);
  assert.deepEqual(readSearchText('3f2a91bc-0c').ids?.to, '3f2a91bc-0cff-ffff-ffff-ffffffffffff');
  assert.equal(readSearchText('3f2a91b').ids, undefined);
  assert.equal(readSearchText('3f2a91bx').ids, undefined);
  assert.equal(readSearchText('Ada@Example.com').email, 'ada@example.com');
  assert.equal(readSearchText('ada@example').email, undefined);
  assert.equal(readSearchText('q-20261121-7f3k2m9p4x').receipt?.number, 'Q-20261121-7F3K2M9P4X');
});
