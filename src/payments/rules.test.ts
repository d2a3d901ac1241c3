import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { producerSkewMs } from '../lib/durations.ts';
import {
  type Candidates,
  canApply,
  choose,
  completingTransfer,
  isNamed,
  isRejected,
  minPartMicro,
  neighbourhoodMicro,
  type Payable,
  type Reservation,
  rejection,
  restMicro,
  sumMicro,
  surpluses,
  type Transfer,
} from './rules.ts';

const wallet = `0x${'aa'.repeat(20)}`;
const token = `0x${'cc'.repeat(20)}`;
const createdAt = new Date('2026-03-01T12:00:00.400Z');
const expiresAt = new Date('2026-03-01T12:15:00.400Z');
const at = (iso: string) => new Date(`2026-03-01T${iso}Z`);

const transfer = (details: Partial<Transfer> = {}): Transfer => ({
  chainId: 31337,
  tokenAddress: token,
  from: `0x${'bb'.repeat(20)}`,
  to: wallet,
  value: 13_586_957n,
  blockNumber: 101,
  blockTime: at('12:05:00'),
  reference: null,
  authorizationNonce: null,
  chargedReference: null,
  ...details,
});

const request = (details: Partial<Payable> = {}): Payable => ({
  id: 'r',
  walletAddress: wallet,
  walletChainIds: null,
  usdcMicro: 13_586_957n,
  status: 'requested',
  proofStatus: 'none',
  expiresAt,
  countedMicro: 0n,
  countedTransfers: 0,
  undoubtedMicro: 0n,
  ...details,
});

const reservation = (details: Partial<Reservation> = {}): Reservation => ({
  requestId: 'r',
  usdcMicro: 13_586_957n,
  reservedAt: createdAt,
  reservedUntil: new Date('2026-03-02T12:15:00.400Z'),
  startBlock: 100,
  ...details,
});

const candidates = (details: Partial<Candidates> = {}): Candidates => ({
  authorized: null,
  charged: null,
  referenced: null,
  decided: null,
  reservations: [],
  ...details,
});
const named = (id: string, walletAddress = wallet) => ({ id, walletAddress });
const applied = (requestId: string, rule: string) => ({ requestId, rule });
const unmatched = (reason: string) => ({ requestId: null, reason });

const choices: [name: string, Transfer, Candidates, object][] = [
  ['nothing known → no_match', transfer(), candidates(), unmatched('no_match')],
  [
    'a reference → its request',
    transfer({ value: 1n }),
    candidates({ referenced: { id: 'r', walletAddress: wallet } }),
    applied('r', 'reference'),
  ],
  [
    'a reference beats the reserved amount of another request',
    transfer(),
    candidates({ referenced: { id: 'r', walletAddress: wallet }, reservations: [reservation({ requestId: 's' })] }),
    applied('r', 'reference'),
  ],
  [
    'a reference of a request to another wallet → conflict, also where the amount fits',
    transfer(),
    candidates({ referenced: { id: 'r', walletAddress: token }, reservations: [reservation({ requestId: 's' })] }),
    unmatched('conflict'),
  ],
  [
    'an authorization made for a request → that request, whatever else names another',
    transfer({ value: 1n }),
    candidates({ authorized: named('r'), charged: named('s'), referenced: named('t'), reservations: [reservation()] }),
    applied('r', 'authorization'),
  ],
  [
    'a charge that names a request → that request, whatever the calldata or the amount say',
    transfer(),
    candidates({ charged: named('r'), referenced: named('t'), reservations: [reservation({ requestId: 's' })] }),
    applied('r', 'charge'),
  ],
  [
    'an authorization for a request to another wallet → conflict, and no weaker rule',
    transfer(),
    candidates({ authorized: named('r', token), charged: named('r'), reservations: [reservation()] }),
    unmatched('conflict'),
  ],
  [
    'a charge for a request to another wallet → conflict, and no weaker rule',
    transfer(),
    candidates({ charged: named('r', token), referenced: named('r'), reservations: [reservation()] }),
    unmatched('conflict'),
  ],
  [
    'what the merchant decided before a reorganisation → that request, whatever the authorization says',
    transfer(),
    candidates({ decided: { requestId: 's', rule: 'merchant' }, authorized: named('r') }),
    applied('s', 'merchant'),
  ],
  [
    'what was signed for before a reorganisation → that request, whatever the amount says',
    transfer(),
    candidates({ decided: { requestId: 's', rule: 'claim' }, reservations: [reservation()] }),
    applied('s', 'claim'),
  ],
  [
    'a reserved amount → its request',
    transfer(),
    candidates({ reservations: [reservation()] }),
    applied('r', 'amount'),
  ],
  [
    'one micro unit off → no_match',
    transfer({ value: 13_586_958n }),
    candidates({ reservations: [reservation()] }),
    unmatched('no_match'),
  ],
  [
    'an uneven amount beside others → its request',
    transfer(),
    candidates({ reservations: [reservation(), reservation({ requestId: 's', usdcMicro: 13_586_958n })] }),
    applied('r', 'amount'),
  ],
  [
    'the moment at which a reservation ends → its request',
    transfer({ blockTime: at('12:05:00') }),
    candidates({ reservations: [reservation({ reservedUntil: at('12:05:00') })] }),
    applied('r', 'amount'),
  ],
  [
    'a reservation that has ended → no_match',
    transfer({ blockTime: at('12:05:01') }),
    candidates({ reservations: [reservation({ reservedUntil: at('12:05:00') })] }),
    unmatched('no_match'),
  ],
  [
    'a block up to the newest at its creation → before_request',
    transfer({ blockNumber: 100 }),
    candidates({ reservations: [reservation()] }),
    unmatched('before_request'),
  ],
  [
    'a later block from 15 seconds before, as clocks differ → its request',
    transfer({ blockTime: at('11:59:45') }),
    candidates({ reservations: [reservation()] }),
    applied('r', 'amount'),
  ],
  [
    'a later block from the second before that → before_request',
    transfer({ blockTime: at('11:59:44') }),
    candidates({ reservations: [reservation()] }),
    unmatched('before_request'),
  ],
  [
    'a head unknown at its creation: 15 seconds before, as clocks differ → its request',
    transfer({ blockTime: at('11:59:45') }),
    candidates({ reservations: [reservation({ startBlock: null })] }),
    applied('r', 'amount'),
  ],
  [
    'a head unknown at its creation: the second before that → before_request',
    transfer({ blockTime: at('11:59:44') }),
    candidates({ reservations: [reservation({ startBlock: null })] }),
    unmatched('before_request'),
  ],
];
for (const [name, given, known, expected] of choices) {
  test(`choose › ${name}`, () => assert.deepEqual(choose(given, known), expected));
}

const wholeCent = reservation({ usdcMicro: 12_500_000n });
const neighbours: [name: string, Partial<Reservation>, object][] = [
  ['none near → its request', { usdcMicro: 12_510_001n }, applied('r', 'amount')],
  ['one micro unit above → ambiguous', { usdcMicro: 12_500_001n }, unmatched('ambiguous')],
  ['one cent above → ambiguous', { usdcMicro: 12_510_000n }, unmatched('ambiguous')],
  ['one cent below → ambiguous', { usdcMicro: 12_490_000n }, unmatched('ambiguous')],
  [
    'reserved later than the block → its request',
    { usdcMicro: 12_500_001n, reservedAt: at('12:05:01') },
    applied('r', 'amount'),
  ],
  [
    'reserved within the second of the block → ambiguous',
    { usdcMicro: 12_500_001n, reservedAt: at('12:05:00.900') },
    unmatched('ambiguous'),
  ],
  [
    'ending at the block → ambiguous',
    { usdcMicro: 12_500_001n, reservedUntil: at('12:05:00') },
    unmatched('ambiguous'),
  ],
  [
    'ended before the block → its request',
    { usdcMicro: 12_500_001n, reservedUntil: at('12:04:59') },
    applied('r', 'amount'),
  ],
];
for (const [name, other, expected] of neighbours) {
  test(`choose › a whole cent, another amount ${name}`, () => {
    const reservations = [wholeCent, reservation({ requestId: 's', ...other })];
    assert.deepEqual(choose(transfer({ value: 12_500_000n }), candidates({ reservations })), expected);
  });
}

const no = (reason: string) => ({ counts: false, reason });
const yes = (completes: boolean) => ({ counts: true, completes });
const applicable: [name: string, Partial<Transfer>, Partial<Payable>, object][] = [
  ['the exact amount → completes', {}, {}, yes(true)],
  ['more → completes', { value: 20_000_000n }, {}, yes(true)],
  ['less → counts in part', { value: 13_586_956n }, {}, yes(false)],
  ['the rest of the sum → completes', { value: 1n }, { countedMicro: 13_586_956n }, yes(true)],
  [
    'a partial payment after 50 others → too_many_parts',
    { value: 10_000n },
    { countedMicro: 50n, countedTransfers: 50 },
    no('too_many_parts'),
  ],
  ['a partial payment after 49 others → counts', { value: 10_000n }, { countedTransfers: 49 }, yes(false)],
  ['dust after 9 others → counts', { value: 9_999n }, { countedTransfers: 9 }, yes(false)],
  ['dust after 10 others → too_many_parts', { value: 9_999n }, { countedTransfers: 10 }, no('too_many_parts')],
  [
    'dust that completes, after 50 others → completes',
    { value: 1n },
    { countedMicro: 13_586_956n, countedTransfers: 50 },
    yes(true),
  ],
  ['the rest after 50 others → completes', {}, { countedMicro: 50n, countedTransfers: 50 }, yes(true)],
  ['an opened request → completes', {}, { status: 'opened' }, yes(true)],
  [
    'an expired request, within 30 minutes → completes',
    { blockTime: at('12:45:00') },
    { status: 'expired' },
    yes(true),
  ],
  [
    'exactly 30 minutes after expiry → completes',
    { blockTime: at('12:45:00') },
    { status: 'expired', expiresAt: at('12:15:00') },
    yes(true),
  ],
  ['30 minutes after expiry and a second → late', { blockTime: at('12:45:01') }, { status: 'expired' }, no('late')],
  ['late before the expiry is stored → late', { blockTime: at('12:45:01') }, {}, no('late')],
  ['voided → voided', {}, { status: 'voided' }, no('voided')],
  ['attached → already_paid', {}, { proofStatus: 'attached', undoubtedMicro: 13_586_957n }, no('already_paid')],
  [
    'attached by what may never settle, and it suffices → completes',
    {},
    { proofStatus: 'attached', undoubtedMicro: 0n },
    yes(true),
  ],
  [
    'attached by what may never settle, and it does not suffice → already_paid',
    { value: 1n },
    { proofStatus: 'attached', undoubtedMicro: 1n },
    no('already_paid'),
  ],
  ['verified → already_paid', {}, { proofStatus: 'verified', countedMicro: 13_586_957n }, no('already_paid')],
  [
    'a block from before the request, whatever its number and time → counts',
    { blockNumber: 1, blockTime: at('11:00:00') },
    {},
    yes(true),
  ],
  ['a chain where the contract wallet was checked → counts', {}, { walletChainIds: [1, 31337] }, yes(true)],
  ['a chain where it was not → wrong_network', {}, { walletChainIds: [1] }, no('wrong_network')],
  ['another wallet → wrong_recipient', { to: token }, {}, no('wrong_recipient')],
];
for (const [name, given, known, expected] of applicable) {
  test(`canApply › ${name}`, () => assert.deepEqual(canApply(transfer(given), request(known), 'reference'), expected));
}

test('canApply › late money that the merchant attaches → completes', () => {
  const late = transfer({ blockTime: at('15:00:00') });
  assert.deepEqual(canApply(late, request({ status: 'expired' }), 'merchant'), yes(true));
});

test('rejection › another token and a transfer to oneself are no payments', () => {
  assert.equal(rejection(transfer(), [token]), null);
  assert.equal(rejection(transfer(), [wallet]), 'wrong_token');
  assert.equal(rejection(transfer({ from: wallet }), [token]), 'self_transfer');
});

test('isRejected › only what is no payment at all: a merchant may decide about everything else', () => {
  const reasons = ['wrong_token', 'self_transfer', 'no_match', 'late', 'voided', 'already_paid', null] as const;
  assert.deepEqual(reasons.filter(isRejected), ['wrong_token', 'self_transfer']);
});

test('isNamed › by any of the four that name a request, and by no amount', () => {
  assert.equal(isNamed(candidates({ reservations: [reservation()] })), false);
  for (const by of ['authorized', 'charged', 'referenced'] as const) {
    assert.equal(isNamed(candidates({ [by]: named('r') })), true, by);
  }
  assert.equal(isNamed(candidates({ decided: { requestId: 'r', rule: 'claim' } })), true);
});

test('A producer’s clock may be 15 seconds behind, and a part is a cent at least', () => {
  assert.equal(producerSkewMs, 15_000);
  assert.equal(minPartMicro, 10_000n);
});

const rests: [name: string, undoubtedMicro: bigint, rest: bigint | null][] = [
  ['nothing arrived → the whole amount', 0n, null],
  ['less than a cent arrived → the whole amount', 9_999n, null],
  ['a cent arrived → the rest', 10_000n, 990_000n],
  ['all but one micro unit → that one', 999_999n, 1n],
  ['all → nothing', 1_000_000n, null],
  ['more → nothing', 1_000_001n, null],
];
for (const [name, undoubtedMicro, rest] of rests) {
  test(`restMicro › ${name}`, () => assert.equal(restMicro(1_000_000n, undoubtedMicro), rest));
}

const [first, second, third] = [at('12:20:00'), at('12:21:00'), at('12:22:00')];
const paid = (value: bigint, final_at: Date | null = first) => ({ value: value.toString(), final_at });
type Paid = ReturnType<typeof paid>;
const shares: [name: string, counted: Paid[], verifiedAt: Date | null, expected: bigint[]][] = [
  ['the exact amount → none', [paid(100n)], first, [0n]],
  ['one micro unit over → that one', [paid(101n)], first, [1n]],
  ['two that reach it exactly → none', [paid(60n), paid(40n)], first, [0n, 0n]],
  ['the first pays, the second brings the rest → its surplus', [paid(60n), paid(70n)], first, [0n, 30n]],
  ['paid by the first → all of the second', [paid(130n), paid(70n)], first, [30n, 70n]],
  ['a part only → none', [paid(60n)], null, [0n]],
  ['not final → left out', [paid(60n, null), paid(130n)], first, [30n]],
  ['final by the proof → in the order of the chain', [paid(130n, second), paid(70n)], second, [30n, 70n]],
  ['final after the proof, and earlier in the chain → last', [paid(60n, second), paid(100n)], first, [0n, 60n]],
  ['final after the proof → by when', [paid(7n, third), paid(100n), paid(9n, second)], first, [0n, 9n, 7n]],
  ['not verified → in the order of the chain', [paid(130n, second), paid(70n)], null, [30n, 70n]],
];
for (const [name, counted, verifiedAt, expected] of shares) {
  test(`surpluses › ${name}`, () => {
    const found = surpluses(counted, 100n, verifiedAt);
    assert.deepEqual(
      found.map(({ micro }) => micro),
      expected,
    );
  });
}

test('surpluses › together are what arrived beyond the amount due, whatever becomes final when', () => {
  const moments = fc.constantFrom(first, second, third);
  const counted = fc.array(
    fc.tuple(fc.bigInt({ min: 1n, max: 100n }), moments).map(([value, at]) => paid(value, at)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(counted, fc.bigInt({ min: 1n, max: 300n }), (transfers, due) => {
      const total = sumMicro(transfers);
      const over = surpluses(transfers, due, first);
      assert.equal(
        over.reduce((sum, { micro }) => sum + micro, 0n),
        total > due ? total - due : 0n,
      );
      for (const { transfer, micro } of over) assert.ok(micro >= 0n && micro <= BigInt(transfer.value));
    }),
  );
});

test('sumMicro › adds the values, exactly also beyond 2^53', () => {
  assert.equal(sumMicro([]), 0n);
  assert.equal(sumMicro([{ value: '9007199254740993' }, { value: '2' }]), 9_007_199_254_740_995n);
});

test('completing › names the transfer with which the sum is reached, and none below it', () => {
  const values = fc.array(fc.bigInt({ min: 1n, max: 100n }), { maxLength: 8 });
  fc.assert(
    fc.property(values, fc.bigInt({ min: 1n, max: 300n }), (amounts, due) => {
      const counted = amounts.map((value) => ({ value: value.toString() }));
      const last = completingTransfer(counted, due);
      const before = last ? amounts.slice(0, counted.indexOf(last)) : amounts;
      const sum = before.reduce((a, b) => a + b, 0n);
      assert.ok(sum < due);
      if (last) assert.ok(sum + BigInt(last.value) >= due);
    }),
  );
});

test('choose › by amount never pays a request whose reserved amount differs, nor a rounded figure near two', () => {
  const amount = fc.bigInt({ min: 1n, max: 40_000n });
  fc.assert(
    fc.property(fc.uniqueArray(amount, { minLength: 1, maxLength: 6 }), amount, (reserved, value) => {
      const reservations = reserved.map((usdcMicro) => reservation({ requestId: `r${usdcMicro}`, usdcMicro }));
      const choice = choose(transfer({ value }), candidates({ reservations }));
      if (choice.requestId !== null) {
        assert.equal(choice.requestId, `r${value}`);
        const near = reserved.filter((other) => other >= value - 10_000n && other <= value + 10_000n);
        assert.ok(value % 10_000n !== 0n || near.length === 1);
      } else {
        assert.ok(!reserved.includes(value) || neighbourhoodMicro(value) > 0n);
      }
    }),
  );
});

test('a mint is claimed by nobody; by a reference, its amount or the merchant it counts like any other money', () => {
  const minted = transfer({ from: `0x${'00'.repeat(20)}` });
  assert.deepEqual(canApply(minted, request(), 'claim'), { counts: false, reason: 'no_match' });
  for (const rule of ['reference', 'amount', 'merchant'] as const) {
    assert.deepEqual(canApply(minted, request(), rule), { counts: true, completes: true });
  }
});
