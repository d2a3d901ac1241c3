import type { Figure } from '../figure.ts';
import { measureCreates } from '../measure-creates.ts';

export const figure: Figure = {
  what: '`pgbench` sending the statements of a create against `pgbench` inserting only the row (see `create`).',
  limitMinutes: 4,
  measure: (stage) =>
    measureCreates(stage, [
      { arm: 'together', base: 'yardstick', target: 0.45 },
      { arm: 'alone', base: 'yardstick', target: 0.45 },
    ]),
};
