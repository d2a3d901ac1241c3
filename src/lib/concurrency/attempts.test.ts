import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttemptLimit, clientSubject, networkSubject } from './attempts.ts';

test('A client is an IPv4 address or a /64, however its address is written', () => {
  assert.equal(clientSubject('192.0.2.7'), '192.0.2.7');
  const same = ['2001:db8::1', '2001:db8:0:0:1::', '2001:db8:0:0:1:2:3:4', '2001:DB8:0::9%eth0'];
  assert.deepEqual([...new Set(same.map(clientSubject))], ['2001:db8:0:0::/64']);
  assert.equal(clientSubject('2001:db8:a:b:1::'), '2001:db8:a:b::/64');
  assert.equal(clientSubject('::1'), '0:0:0:0::/64');
  assert.notEqual(clientSubject('2001::5:6:7:8:9'), clientSubject('2001::6:6:7:8:9'), 'neighbours are others');
});

test('A network is a /24 or a /48, however its address is written', () => {
  assert.equal(networkSubject('192.0.2.7'), '192.0.2.0/24');
  assert.equal(networkSubject('::ffff:192.0.2.7'), '192.0.2.0/24');
  const same = ['2001:db8::1', '2001:db8:0:7::1', '2001:db8:0:0:1::'];
  assert.deepEqual([...new Set(same.map(networkSubject))], ['2001:db8:0::/48']);
  assert.notEqual(networkSubject('2001:db8::1'), networkSubject('2001:db8:1::1'));
});

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));

test('AttemptLimit › each subject is counted separately, and all counts restart with each window', () => {
  const limit = new AttemptLimit(2, 60_000);
  assert.deepEqual(
    ['a', 'a', 'a', 'b'].map((subject) => limit.take(subject, at(0))),
    [true, true, false, true],
  );
  assert.equal(limit.take('a', at(60)), true);
});

test('AttemptLimit › a call began before the window and waited → nobody regains attempts in it', () => {
  const limit = new AttemptLimit(2, 60_000);
  const useUp = () => ['a', 'a', 'a'].map((subject) => limit.take(subject, at(61)));
  assert.deepEqual(useUp(), [true, true, false]);
  assert.equal(limit.take('late', at(59)), true);
  assert.deepEqual(useUp(), [false, false, false]);
  assert.deepEqual([limit.take('late', at(59)), limit.take('late', at(62))], [true, false], 'it counts in the newer');
});

test('AttemptLimit › the clock is set back by more than a window → counts restart', () => {
  const limit = new AttemptLimit(1, 60_000);
  assert.deepEqual([limit.take('a', at(180)), limit.take('a', at(59))], [true, true]);
});

const madeUp = Array.from({ length: 10_000 }, (_, i) => `made up ${i}`);

test('AttemptLimit › somebody invents any number of subjects → a new one is served, with the same limit as all', () => {
  const limit = new AttemptLimit(5, 60_000, 100);
  for (const subject of madeUp) limit.take(subject, at(0));
  const newcomers = Array.from({ length: 1_000 }, (_, i) => `newcomer ${i}`);
  const served = newcomers.filter((subject) => limit.take(subject, at(1)));
  assert.ok(served.length > 990, `${served.length} of 1,000`);
  for (let i = 0; i < 5; i++) limit.take('newcomer 0', at(1));
  assert.equal(limit.take('newcomer 0', at(1)), false);
  assert.equal(limit.take('newcomer 0', at(60)), true);
});

test('AttemptLimit › a subject has used up its attempts and invents others → it gets none back', () => {
  const limit = new AttemptLimit(2, 60_000, 100);
  const useUp = (subject: string) => [1, 2, 3].map(() => limit.take(subject, at(0))).at(-1);
  assert.equal(useUp('early'), false);
  for (const subject of madeUp) limit.take(subject, at(0));
  assert.equal(limit.take('early', at(1)), false);
  assert.equal(useUp('late'), false);
  for (const subject of madeUp) limit.take(`more ${subject}`, at(1));
  assert.equal(limit.take('late', at(2)), false);
});
