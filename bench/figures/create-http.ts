import type { Figure } from '../figure.ts';
import { measureCreates } from '../measure-creates.ts';

export const figure: Figure = {
  what: 'Creates over HTTP against `pgbench` sending the same statements (see `create`).',
  limitMinutes: 4,
  measure: (stage) =>
    measureCreates(stage, [
      { arm: 'http', base: 'together', target: 0.75 },
      { arm: 'http', base: 'alone', target: 0.75 },
    ]),
};
