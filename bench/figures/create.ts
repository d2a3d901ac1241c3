import type { Figure } from '../figure.ts';
import { measureCreates } from '../measure-creates.ts';

export const figure: Figure = {
  what:
    'Creates over HTTP (key, limiter, scope, rules, rate, row-level security, durable commit; one server process; ' +
    'wrk sends) against the yardstick: `pgbench` inserting the same complete row, durably, into a copy of ' +
    '`requests` that has no index but the primary key and the one of idempotency. Between them: `pgbench` sending the ' +
    'service’s own statements with random keys, merchants, amounts and idempotency keys: that of one create from 16 ' +
    'clients, and that of sixteen together, which the server sends under load, from two.',
  limitMinutes: 8,
  measure: (stage) =>
    measureCreates(
      stage,
      [
        { arm: 'http', base: 'yardstick', target: 0.35 },
        { arm: 'httpOfMany', base: 'yardstickOfMany', target: 0.35 },
        { arm: 'together', base: 'yardstick', target: 0.45 },
        { arm: 'alone', base: 'yardstick', target: 0.45 },
        { arm: 'http', base: 'together', target: 0.75 },
        { arm: 'httpOfMany', base: 'together', target: 0.75 },
        { arm: 'http', base: 'alone', target: 0.75 },
      ],
      { shows: true },
    ),
};
