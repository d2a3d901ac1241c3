import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAbiParameters, type Hex, numberToHex } from 'viem';
import { authorizationUsedTopic, chargedTopic, readBindings } from './bindings.ts';
import { transferTopic } from './blocks.ts';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const word = (value: string) => `0x${value.slice(2).padStart(64, '0')}`;
const [ada, bob, shop, token, other, contract] = ['1', '2', '3', '4', '5', 'c'].map(address) as [
  ...[Hex, Hex, Hex, Hex, Hex, Hex],
];
const nonce = 'ab'.repeat(32);
const reference = '0123456789abcdef'.repeat(2);
const padded = `0x${reference}${'00'.repeat(16)}`;

type LogContent = { address: string; topics: string[]; data: string };
const moved = (from: Hex, to: Hex, value: bigint, by: Hex = token): LogContent => ({
  address: by,
  topics: [transferTopic, word(from), word(to)],
  data: numberToHex(value, { size: 32 }),
});
const used = (authorizer: Hex, by: Hex = token): LogContent => ({
  address: by,
  topics: [authorizationUsedTopic, word(authorizer), `0x${nonce}`],
  data: '0x',
});
const charged = (
  amount: bigint,
  details: { payer?: Hex; reference?: string; by?: Hex; of?: Hex } = {},
): LogContent => ({
  address: details.by ?? contract,
  topics: [chargedTopic, word('0x77'), details.reference ?? padded, word(shop)],
  data: encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
    [details.payer ?? ada, details.of ?? token, amount],
  ),
});
const nonces = (logs: LogContent[]) => logs.map((_, at) => readBindings(logs, contract)(at).authorizationNonce);
const references = (logs: LogContent[]) => logs.map((_, at) => readBindings(logs, contract)(at).chargedReference);

test('AuthorizationUsed › its nonce belongs to the transfer directly after it, by the same token and from the same wallet', () => {
  assert.deepEqual(nonces([used(ada), moved(ada, shop, 5n)]), [null, nonce]);
  assert.deepEqual(nonces([used(ada), moved(ada, shop, 5n), moved(ada, shop, 5n)]), [null, nonce, null]);
  assert.deepEqual(nonces([used(ada), charged(5n), moved(ada, shop, 5n)]), [null, null, null]);
  assert.deepEqual(nonces([moved(ada, shop, 5n), used(ada)]), [null, null]);
  assert.deepEqual(nonces([used(bob), moved(ada, shop, 5n)]), [null, null]);
  assert.deepEqual(nonces([used(ada, other), moved(ada, shop, 5n)]), [null, null]);
});

test('Charged › its reference belongs to the one transfer before it with its payer, payee, token and amount', () => {
  assert.deepEqual(references([moved(ada, shop, 5n), charged(5n)]), [reference, null]);
  assert.deepEqual(references([moved(ada, shop, 5n), moved(ada, bob, 1n), charged(5n)]), [reference, null, null]);
  for (const wrong of [
    charged(6n),
    charged(5n, { payer: bob }),
    charged(5n, { of: other }),
    charged(5n, { by: other }),
    charged(5n, { reference: `0x${reference}${'00'.repeat(15)}01` }),
  ]) {
    assert.deepEqual(references([moved(ada, shop, 5n), wrong]), [null, null]);
  }
  assert.deepEqual(references([moved(ada, bob, 5n), charged(5n)]), [null, null], 'to another wallet');
  assert.deepEqual(references([moved(ada, shop, 5n, other), charged(5n)]), [null, null], 'of another token');
  assert.deepEqual(references([charged(5n), moved(ada, shop, 5n)]), [null, null], 'only afterwards');
});

test('two equal transfers before one charge → it belongs to neither; one before each of two → to each its own', () => {
  const twice = [moved(ada, shop, 5n), moved(ada, shop, 5n), charged(5n)];
  assert.deepEqual(references(twice), [null, null, null]);
  const second = `0x${'ff'.repeat(16)}${'00'.repeat(16)}`;
  const each = [moved(ada, shop, 5n), charged(5n), moved(ada, shop, 5n), charged(5n, { reference: second })];
  assert.deepEqual(references(each), [reference, null, 'ff'.repeat(16), null]);
  const late = [moved(ada, shop, 5n), charged(4n), charged(5n)];
  assert.deepEqual(references(late), [null, null, null], 'a transfer from before the last charge');
});

test('a log of another shape, or of another contract → nothing', () => {
  const logs = [moved(ada, shop, 5n), charged(5n)];
  assert.equal(readBindings(logs, other)(0).chargedReference, null);
  const [, right] = logs as [LogContent, LogContent];
  for (const wrong of [
    { ...right, topics: right.topics.slice(0, 3) },
    { ...right, data: `${right.data}00` },
    { ...right, data: '0x' },
  ]) {
    assert.deepEqual(references([moved(ada, shop, 5n), wrong]), [null, null]);
  }
  assert.deepEqual(nonces([{ ...used(ada), topics: [authorizationUsedTopic] }, moved(ada, shop, 5n)]), [null, null]);
});
