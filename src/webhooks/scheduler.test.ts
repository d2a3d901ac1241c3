import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { hourMs } from '../lib/durations.ts';
import type { ClaimedDelivery } from './queue-store.ts';
import { firstWindow, maxPosts, maxSlow, maxUnproven, maxWindow, slowAfterMs } from './rules.ts';
import { Scheduler } from './scheduler.ts';

let made = 0;

/** Claimed deliveries of one partner, whose endpoint has never answered unless said otherwise. */
function claimed(partner: string, count: number, proven = false): ClaimedDelivery[] {
  return Array.from({ length: count }, () => ({
    partner_id: partner,
    test_mode: true,
    id: `${made++}`,
    request_id: 'request',
    event: 'payment.proof_verified',
    body: '{}',
    attempts: 0,
    lease: 'lease',
    endpoint: {
      url: 'https://receiver.example/',
      secret: new Uint8Array(),
      pending_secret: null,
      pending_since: null,
      probe: null,
      lease_until: new Date(0),
      failures: 0,
      failing_since: null,
      last_success_at: proven ? new Date() : null,
      proven,
      disabled_reason: null,
    },
  }));
}

/** A scheduler on a clock that is moved by hand. */
function paced() {
  let at = 0;
  const scheduler = new Scheduler(firstWindow, () => at);
  const begin = () => {
    const begun: ClaimedDelivery[] = [];
    for (let row = scheduler.next(); row; row = scheduler.next()) begun.push(row);
    return begun;
  };
  return { scheduler, begin, forward: (ms: number) => (at += ms) };
}

const partnersOf = (rows: ClaimedDelivery[]) => new Set(rows.map(({ partner_id }) => partner_id));

describe('the pace of deliveries', () => {
  test('an unknown endpoint gets eight at once, and one more for each success, up to 64', () => {
    const { scheduler, begin } = paced();
    scheduler.add(claimed('a', 1000));
    let underWay = begin();
    assert.equal(underWay.length, firstWindow);
    let most = 0;
    while (underWay.length > 0) {
      most = Math.max(most, underWay.length);
      for (const row of underWay) scheduler.ended(row, true);
      underWay = begin();
    }
    assert.equal(most, maxWindow);
  });

  test('a machine’s clock is hours ahead → an endpoint that the database knows to answer still counts as one', () => {
    const { scheduler } = paced();
    const rows = claimed('a', 1, true);
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * hourMs });
    try {
      scheduler.add(rows);
      assert.equal(scheduler.rooms()[0]?.proven, true);
    } finally {
      mock.timers.reset();
    }
  });

  test('a failure → deliveries claimed ahead are returned, and its place stays taken until it is recorded', () => {
    const { scheduler, begin } = paced();
    scheduler.add(claimed('a', 20, true));
    const [first] = begin() as [ClaimedDelivery];
    scheduler.ended(first, false);
    assert.equal(scheduler.takeBack().length, 20 - firstWindow);
    const [known] = scheduler.rooms();
    assert.deepEqual([known?.held, known?.room, known?.proven], [firstWindow, 0, false]);
    scheduler.recorded(first);
    assert.equal(scheduler.rooms()[0]?.room, 1);
  });

  test('one delivery claimed twice, as after a replay → each attempt takes and frees its own place', () => {
    const { scheduler, begin } = paced();
    const [row] = claimed('a', 1) as [ClaimedDelivery];
    scheduler.add([row, { ...row, lease: 'another' }]);
    const underWay = begin();
    assert.equal(underWay.length, 2);
    for (const each of underWay) scheduler.ended(each, true);
    assert.equal(scheduler.rooms()[0]?.held, 0);
  });

  test('endpoints take turns, however much was claimed for one of them', () => {
    const { scheduler, begin } = paced();
    scheduler.add(claimed('many', 100, true));
    scheduler.add(claimed('one', 1, true));
    assert.ok(partnersOf(begin().slice(0, 2)).has('one'));
  });

  test('hundreds of endpoints that hang → half of the room stays, and the half they had is free after a second', () => {
    const { scheduler, begin, forward } = paced();
    for (let n = 0; n < 100; n++) scheduler.add(claimed(`hanging ${n}`, firstWindow));
    assert.equal(begin().length, maxUnproven);
    assert.equal(scheduler.freeUnproven(), 0);
    for (let n = 0; n < 10; n++) scheduler.add(claimed(`answering ${n}`, 64, true));
    const answered = begin();
    assert.equal(answered.length, 10 * firstWindow);
    assert.ok([...partnersOf(answered)].every((partner) => partner.startsWith('answering')));
    for (const row of answered) scheduler.ended(row, true);
    forward(slowAfterMs);
    scheduler.free();
    assert.equal(scheduler.takeBack().length, 800 - maxUnproven, 'what was claimed ahead for them is given back');
    assert.ok(begin().length > answered.length);
  });

  test('all answers take two seconds, as on a busy machine → no delivery is returned', () => {
    const { scheduler, begin, forward } = paced();
    const underWay: ClaimedDelivery[][] = [];
    for (let step = 0; step < 40; step++) {
      scheduler.add(claimed(`partner ${step % 8}`, 4, true));
      underWay.push(begin());
      forward(100);
      if (step >= 20) for (const row of underWay.shift() ?? []) scheduler.ended(row, true);
      if (step > 20) assert.equal(scheduler.takeBack().length, 0);
      else scheduler.takeBack();
    }
  });

  test('more slow attempts than their limit → the rest take room among the quick ones', () => {
    const { scheduler, begin, forward } = paced();
    let underWay = 0;
    for (let round = 0; round < 10; round++) {
      for (let n = 0; n < 32; n++) scheduler.add(claimed(`hanging ${round} ${n}`, firstWindow));
      underWay += begin().length;
      forward(slowAfterMs);
    }
    assert.equal(underWay, maxSlow + maxUnproven);
    scheduler.add(claimed('answering', 1, true));
    assert.equal(begin().length, 1);
  });

  test('a hundred endpoints that answer each event, but only just in time → half of the quick room stays free', () => {
    const { scheduler, begin, forward } = paced();
    const underWay: ClaimedDelivery[][] = [];
    for (let second = 0; second < 60; second++) {
      const slow = Array.from({ length: 100 }, (_, n) => claimed(`slow ${n}`, firstWindow, true)).flat();
      scheduler.add(slow.slice(0, Math.max(0, second === 0 ? maxPosts : scheduler.freeUnproven())));
      scheduler.add(claimed('quick', 10, true));
      const begun = begin();
      const quick = begun.filter(({ partner_id }) => partner_id === 'quick');
      // The first slow ones have the whole room until it shows that they are slow.
      if (second > 0) assert.ok(quick.length >= firstWindow, `after ${second} s: ${quick.length}`);
      underWay.push(begun.filter(({ partner_id }) => partner_id !== 'quick'));
      for (const row of quick) scheduler.ended(row, true);
      forward(slowAfterMs);
      if (underWay.length === 8) for (const row of underWay.shift() ?? []) scheduler.ended(row, true);
    }
  });

  test('an endpoint that was slow once → is known to answer again after ten quick seconds', () => {
    const { scheduler, begin, forward } = paced();
    scheduler.add(claimed('a', 1, true));
    const [slow] = begin() as [ClaimedDelivery];
    for (let second = 0; second < 12; second++) {
      scheduler.add(claimed('b', 1, true));
      for (const row of begin()) scheduler.ended(row, true);
      forward(1_000);
      scheduler.free();
      scheduler.add(claimed('a', 1));
      for (const row of [...begin(), ...(second === 1 ? [slow] : [])]) scheduler.ended(row, true);
      const known = scheduler.rooms().find(({ partner_id }) => partner_id === 'a');
      assert.equal(known?.proven, second === 11, `after ${second} s`);
    }
  });

  test('an endpoint that answered and then hangs holds 64 at most, and gives back what was claimed ahead', () => {
    const { scheduler, begin, forward } = paced();
    for (let n = 0; n < 20; n++) {
      scheduler.add(claimed('a', 10, true));
      for (const row of begin()) scheduler.ended(row, true);
    }
    forward(1);
    scheduler.add(claimed('a', 2 * maxWindow));
    assert.equal(begin().length, maxWindow);
    forward(slowAfterMs);
    scheduler.free();
    assert.equal(scheduler.takeBack().length, maxWindow);
    assert.ok((scheduler.rooms()[0]?.room ?? 1) <= 0);
  });

  test('all endpoints answer → they use all of the room; a delivery held for five seconds → given back, not begun', () => {
    const { scheduler, begin, forward } = paced();
    for (let n = 0; n < 100; n++) scheduler.add(claimed(`${n}`, firstWindow, true));
    assert.equal(begin().length, maxPosts);
    forward(6_000);
    assert.equal(scheduler.takeBack().length, 0);
    begin();
    assert.equal(scheduler.takeBack().length, 100 * firstWindow - maxPosts);
  });
});
