import { readPayPageRow } from '../../src/requests/pay-page.ts';
import { readRequest } from '../../src/requests/read.ts';
import type { Figure } from '../figure.ts';
import { openReadStage } from '../read-stage.ts';
import { compareReads } from '../reads.ts';

const many = Number(process.env.BENCH_REQUESTS || 1_000_000);

export const figure: Figure = {
  what: 'Reading one request of a partner that has half of all requests.',
  limitMinutes: 20,
  measure: async (stage) => {
    const { ctx, scope, databaseUrl, get } = await openReadStage(stage, many);
    const id = `md5('request ${Math.floor(many / 8) * 4}')::uuid`;
    const [row] = await ctx.db.sql.unsafe(`select ${id} as id`);
    const requestId = String(row?.id);
    const own = `partner_id = '${scope.partnerId}' and test_mode and id = '${requestId}'`;
    const [query, one] = [`select * from requests where ${own}`, (row: unknown) => (row ? [row] : [])];
    const reads = [
      {
        name: 'one request, as the API reads it',
        read: async () => one(await readRequest(ctx.db, scope, requestId)),
        query,
        overHttp: () => get(`/api/v1/requests/${requestId}`),
      },
      {
        name: 'the same for its pay page, with its merchant and partner',
        read: async () => one(await readPayPageRow(ctx.db, scope, requestId)),
        query: `select * from requests r join merchants m on (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
          join partners p on p.id = r.partner_id
          where r.partner_id = '${scope.partnerId}' and r.test_mode and r.id = '${requestId}'`,
      },
    ];
    return compareReads(stage, databaseUrl, reads, [`${many.toLocaleString('en')} requests.`]);
  },
};
