import { browseRequests, portalStatuses } from '../../src/requests/lists/browse.ts';
import { listByMerchant } from '../../src/requests/lists/by-merchant.ts';
import { listRequests } from '../../src/requests/read.ts';
import type { RequestFilter } from '../../src/requests/store.ts';
import type { Figure } from '../figure.ts';
import { openReadStage, type ReadStage } from '../read-stage.ts';
import { compareReads, type Read } from '../reads.ts';

const many = Number(process.env.BENCH_REQUESTS || 1_000_000);
const limit = 50;

const statuses = [undefined, 'requested', 'opened', 'expired', 'voided'] as const;
const proofs = [undefined, 'none', 'attached', 'verified'] as const;
const displayed = { paid: 'verified', confirming: 'attached' } as const;
const shown = [undefined, 'open', 'part', 'confirming', 'paid', 'expired', 'voided'] as const;

type Wanted = {
  status?: string | undefined;
  proof?: string | undefined;
  accountId?: string;
  more?: string;
  oldest: boolean;
};

/** A query that somebody who knows the indexes would write: one branch of an index for each pair of states, merged. */
function byHand({ scope }: ReadStage, { status, proof, accountId, more = '', oldest }: Wanted): string {
  const own = `partner_id = '${scope.partnerId}' and test_mode ${accountId ? `and account_id = '${accountId}'` : ''} ${more}`;
  const place = `order by created_at ${oldest ? '' : 'desc'} limit ${limit + 1}`;
  const pairs = (status ? [status] : statuses.slice(1)).flatMap((one) =>
    (proof ? [proof] : proofs.slice(1)).map((other) => `status = '${one}' and proof_status = '${other}'`),
  );
  if (!status && !proof) return `select * from requests where ${own} ${place}`;
  const branches = pairs.map((pair) => `(select * from requests where ${own} and ${pair} ${place})`);
  return `select * from (${branches.join(' union all ')}) r ${place}`;
}

/**
 * The same for a page, which also shows what arrived for each request and what was probably meant for it: looked up once
 * for all its rows. `named`: with the name of each merchant.
 */
function pageByHand(on: ReadStage, wanted: Omit<Wanted, 'oldest'>, named: boolean): string {
  const own = `t.partner_id = '${on.scope.partnerId}' and t.test_mode`;
  const sumOf = (column: string, which: string) => `(select ${column} as id, sum(t.value) as micro from transfers t
    where ${own} and ${which} and ${column} = any(array(select id from page)) group by 1)`;
  return `with page as materialized (${byHand(on, { ...wanted, oldest: false })})
    select page.*, received.micro, stray.micro as stray_micro ${named ? ', t.business_name' : ''} from page
    ${named ? `join merchants t on ${own} and t.id = page.account_id` : ''}
    left join ${sumOf('t.request_id', 't.counts')} received on received.id = page.id
    left join ${sumOf('t.candidate_request_id', 't.request_id is null and t.judged_at is not null')} stray
      on stray.id = page.id
    order by page.created_at desc`;
}

function apiReads(on: ReadStage): Read[] {
  const { ctx, scope, accountId } = on;
  const since = new Date(Date.now() - 600_000);
  const until = new Date(Date.now() - (many - 600) * 5_000);
  const places = [
    { name: '', filter: {}, more: '', query: '' },
    { name: ', one merchant', filter: { accountId }, more: '', query: `&account_id=${accountId}` },
    ...[
      {
        name: ', since',
        filter: { since },
        more: `and created_at >= '${since.toISOString()}'`,
        query: `&since=${since.toISOString()}`,
      },
      {
        name: ', until',
        filter: { until },
        more: `and created_at < '${until.toISOString()}'`,
        query: `&until=${until.toISOString()}`,
      },
    ],
  ];
  return statuses.flatMap((status) =>
    proofs.flatMap((proof) =>
      places.map(({ name, filter, more, query }): Read => {
        const wanted = { ...filter, limit, offset: 0, ...(status && { status }), ...(proof && { proofStatus: proof }) };
        const path = `/api/v1/requests?limit=${limit}${query}${status ? `&status=${status}` : ''}${proof ? `&proof_status=${proof}` : ''}`;
        return {
          name: `API: ${status ?? 'any'}, ${proof ?? 'any proof'}${name}`,
          read: () => listRequests(ctx.db, scope, wanted as RequestFilter),
          query: byHand(on, { status, proof, more, oldest: true, ...('accountId' in filter && { accountId }) }),
          overHttp: () => on.get(path),
        };
      }),
    ),
  );
}

/** The stored states of a page's state. The other states of pages have few rows, which are looked up. */
function storedOf(state: string | undefined): { status?: string; proof?: string } {
  if (state === undefined || state === 'part') return {};
  if (state in displayed) return { proof: displayed[state as keyof typeof displayed] };
  return { status: state === 'open' ? 'requested' : state, proof: 'none' };
}

function pageReads(on: ReadStage): Read[] {
  const { ctx, scope, accountId } = on;
  const portal = [undefined, ...portalStatuses].flatMap((state) =>
    [undefined, accountId].map((account): Read => {
      const filter = { ...(state && { displayStatus: state }), ...(account && { accountId: account }) };
      const stored = storedOf(
        state && /^(requested|opened|expired|voided|paid|confirming)$/.test(state) ? state : undefined,
      );
      return {
        name: `portal: ${state ?? 'any'}${account ? ', one merchant' : ''}`,
        read: async () => (await browseRequests(ctx, scope, filter, null)).rows,
        query: pageByHand(on, { ...stored, ...(account && { accountId: account }) }, true),
      };
    }),
  );
  const dashboard = shown.map((state): Read => {
    const filter = { displayStatus: state ?? null, since: null, until: null, search: null };
    return {
      name: `dashboard: ${state ?? 'any'}`,
      read: async () => (await listByMerchant(ctx, scope, accountId, filter, null)).rows,
      query: pageByHand(on, { ...storedOf(state), accountId }, false),
    };
  });
  return [...portal, ...dashboard];
}

export const figure: Figure = {
  what: 'The lists of requests by every filter of the API and of the pages, of a partner that has half of all requests.',
  limitMinutes: 40,
  measure: async (stage) => {
    const on = await openReadStage(stage, many);
    const facts = [`${many.toLocaleString('en')} requests; pages of ${limit}.`];
    return compareReads(stage, on.databaseUrl, [...apiReads(on), ...pageReads(on)], facts);
  },
};
