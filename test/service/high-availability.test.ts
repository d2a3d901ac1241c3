import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { connect, type Database, isUnreachable, openOwner, type Scope } from '../../src/db/connection.ts';
import { pause } from '../../src/lib/time.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { type Answer, send } from '../support/api/client.ts';
import { testContext } from '../support/app.ts';
import { accessTo, openOne } from '../support/database.ts';
import {
  type DatabaseCluster,
  type Machine,
  missingPackages,
  startDatabaseCluster,
} from '../support/database-cluster.ts';
import { makeKey, makeMerchant, makePartner, makeRequest, secretsText, setRate } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { chainsFile, twoChains } from '../support/nodes.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** The times that the documents promise, and the longer ones that a busy machine gets. */
const [promisedMs, limitMs] = [30_000, 180_000];
const clients = 4;
/** Each may be used 60 times a minute. */
const keyCount = 250;
const missing = missingPackages();

describe('three database machines under Patroni and two nodes', {
  skip: missing.length > 0 && `missing: ${missing}`,
}, () => {
  let cluster: DatabaseCluster;
  let chains: Awaited<ReturnType<typeof twoChains>>;
  let receiver: Receiver;
  let nodes: Service[] = [];
  let db: Database;
  let scope: Scope;
  let merchant: { id: string; wallet: string };
  let payer: ReturnType<typeof chains.test.wallet>;
  let keys: string[] = [];
  const loads: Load[] = [];

  before(async () => {
    [cluster, chains, receiver] = await Promise.all([startDatabaseCluster(), twoChains(), startReceiver()]);
    const admin = openOne(cluster.adminUrl('postgres'));
    await admin.unsafe(`create role quittance login createrole password 'till'`);
    await admin.unsafe('create database quittance owner quittance');
    await admin.end();
    const folder = dataFolder();
    const env = {
      DATABASE_URL: cluster.url('quittance', 'till', 'quittance'),
      NODE_EXTRA_CA_CERTS: cluster.authority,
      CHAINS_FILE: chainsFile(chains, folder),
      DATA_DIR: folder,
      SECRET_KEYS: secretsText,
    };
    nodes = await Promise.all([1, 2].map(() => startService(env)));
    db = connect(accessTo(env.DATABASE_URL.replace('verify-full', 'require')));
    ({ test: scope } = await makePartner(db));
    merchant = await makeMerchant(db, scope);
    await setRate(db, 'EUR', '0.92');
    await setUrl(testContext(db), theService, scope, receiver.url);
    keys = await Promise.all(Array.from({ length: keyCount }, async () => (await makeKey(db, scope)).key));
    payer = chains.test.wallet();
    await chains.test.fund(payer.address, 10n ** 13n);
  });
  after(async () => {
    for (const node of nodes) assert.deepEqual([(await node.stop()).code, node.stderr()], [0, '']);
    await db?.close();
    await endAll();
    await receiver?.close();
    await chains?.stop();
    await cluster?.stop();
  });

  test('the primary’s machine is killed → its synchronous standby leads, and nothing acknowledged is lost', async (t) => {
    const killed = await survives(t, async (primary) => primary.kill());
    await killed.start();
    await cluster.untilWhole();
  });

  test('a switch-over → the other leads, and nothing acknowledged is lost', async (t) => {
    await survives(t, async (primary) => {
      const candidate = (await cluster.members()).find(({ role }) => role === 'sync_standby')?.name ?? '';
      const words = ['switchover', 'quittance', '--leader', primary.name, '--candidate', candidate, '--force'];
      assert.match(await cluster.control(...words), /Successfully switched over/);
    });
    await cluster.untilWhole();
  });

  test('the primary is cut from etcd and its standbys, and not from the nodes → it acknowledges nothing more and demotes itself, and another leads, also once it is back', async (t) => {
    const cut = await survives(t, async (primary) => {
      primary.cut();
      const alone = openOwner(cluster.adminUrl('quittance', primary));
      // No other machine has this commit, so it is not acknowledged.
      const written = alone`insert into rate_overrides (code, rate) values ('XTS', 9)`.execute();
      await assert.rejects(written, isUnreachable);
      await alone.end();
    });
    const [leader] = await cluster.leaders();
    cut.mend();
    await cluster.untilWhole();
    assert.deepEqual(await cluster.leaders(), [leader]);
    assert.equal((await db.sql`select from rate_overrides where code = 'XTS'`).length, 0);
    for (const load of loads) await assertAllThere(load);
    const hasNoticed = (node: Service) => node.stdout().includes('leads to another server');
    await until(() => nodes.every(hasNoticed), 'each node to notice that the address leads elsewhere');
  });

  /**
   * Breaks something under a load of creates and payments, waits until another machine leads and creates are answered,
   * and checks that all that was acknowledged is there, once.
   *
   * @returns the machine that led before
   */
  async function survives(t: test.TestContext, fault: (primary: Machine) => Promise<void>): Promise<Machine> {
    const load = new Load(
      nodes.map(({ url }) => url),
      keys,
      merchant.id,
    );
    loads.push(load);
    const requests = await Promise.all(Array.from({ length: 6 }, newRequest));
    const before = await onlyLeader();
    const work = Promise.all(Array.from({ length: clients }, (_, at) => load.run(at)));
    try {
      await load.untilMore(50);
      await pay(requests.slice(0, 2));
      const [, leader] = await Promise.all([fault(before), anotherLeader(before), pay(requests.slice(2, 4))]);
      await load.untilMore(50);
      t.diagnostic(`machine ${leader} leads in place of ${before.name}; ${load.figures()}`);
      await pay(requests.slice(4));
    } finally {
      load.end();
    }
    await work;
    assert.deepEqual(load.others, []);
    assert.ok(load.longestMs() < limitMs, `creates were not answered for ${load.longestMs()} ms`);
    if (load.longestMs() > promisedMs) t.diagnostic('longer than 30 s: is this machine busy?');
    await assertAllThere(load);
    await assertTold(requests.map(({ id }) => id));
    return before;
  }

  async function onlyLeader(): Promise<Machine> {
    const [leader, ...more] = await cluster.leaders();
    assert.deepEqual(more, []);
    return leader ?? assert.fail('nobody leads');
  }

  async function anotherLeader(before: Machine): Promise<string> {
    let others: Machine[] = [];
    const look = async () => {
      others = (await cluster.leaders()).filter((machine) => machine !== before);
      return others.length > 0;
    };
    await until(look, 'another machine to lead', limitMs);
    return others.map(({ name }) => name).join();
  }

  const newRequest = async () =>
    makeRequest(db, scope, merchant, {
      startBlocks: { [chains.test.chain.chainId]: await headNumber(chains.test.chain) },
    });

  async function pay(requests: Awaited<ReturnType<typeof newRequest>>[]): Promise<void> {
    for (const { wallet_address: to, usdc_micro: micro, reference } of requests)
      await chains.test.pay({ from: payer, to, usdcMicro: BigInt(micro), reference });
    await chains.test.mine(3);
  }

  async function assertAllThere({ acknowledged }: Load): Promise<void> {
    const rows = await db.sql<{ key: string; id: string; created_at: Date }[]>`
      select idempotency_key as key, id, created_at from requests
      where account_id = ${merchant.id} and idempotency_key = any(${[...acknowledged.keys()]})`;
    assert.deepEqual(new Map(rows.map(({ key, id }) => [key, id])), acknowledged);
    assert.equal(rows.length, acknowledged.size);
    const times = await db.sql<{ rows: number; times: number }[]>`
      select count(*)::int as rows, count(distinct created_at)::int as times from requests
      where partner_id = ${scope.partnerId} and test_mode`;
    assert.equal(times[0]?.times, times[0]?.rows);
  }

  /** Each of these requests has one event, which arrived at least once and always with the same body. */
  async function assertTold(ids: string[]): Promise<void> {
    const of = (id: string) => receiver.received.filter(({ body }) => JSON.parse(body).request_id === id);
    await until(() => ids.every((id) => of(id).length > 0), 'an event of each payment', limitMs);
    for (const id of ids) assert.equal(new Set(of(id).map(({ delivery, body }) => `${delivery} ${body}`)).size, 1);
    const stored = await db.sql`select request_id from webhook_deliveries where request_id = any(${ids}::uuid[])`;
    assert.deepEqual(stored.map(({ request_id }) => request_id).sort(), ids.toSorted());
  }
});

/** Clients that create, each at both nodes in turn, and repeat a call with its key until it is acknowledged. */
class Load {
  /** The request of each idempotency key, once a call with it was answered 200 or 201. */
  readonly acknowledged = new Map<string, string>();
  /** Answers that no client expects. */
  readonly others: string[] = [];
  readonly #times: number[] = [];
  readonly #urls: string[];
  readonly #keys: string[];
  readonly #accountId: string;
  #unavailable = 0;
  #calls = 0;
  #ended = false;

  constructor(urls: string[], keys: string[], accountId: string) {
    [this.#urls, this.#keys, this.#accountId] = [urls, keys, accountId];
  }

  /** Runs one client until the end. It calls at most 50 times a second. */
  async run(client: number): Promise<void> {
    let body = this.#newBody();
    for (let turn = client; !this.#ended; turn++) {
      const answer = await this.#create(turn, body);
      if (answer.status === 503) this.#unavailable++;
      else if (answer.status === 200 || answer.status === 201) {
        this.acknowledged.set(body.idempotency_key, answer.json.request_id);
        this.#times.push(performance.now());
      } else this.others.push(answer.text);
      if (answer.status !== 503) body = this.#newBody();
      await pause(answer.status === 503 ? 100 : 20);
    }
  }

  #create(turn: number, body: object): Promise<Answer> {
    const url = this.#urls[turn % this.#urls.length] ?? '';
    const key = this.#keys[this.#calls++ % this.#keys.length] ?? '';
    return send(url, 'POST', '/api/v1/requests/create', { body, key });
  }

  #newBody = () => ({ account_id: this.#accountId, fiat_amount_int: 1250, idempotency_key: randomUUID() });

  end(): void {
    this.#ended = true;
  }

  untilMore(more: number): Promise<void> {
    const goal = this.acknowledged.size + more;
    return until(() => this.acknowledged.size >= goal, `${more} more creates`, limitMs);
  }

  /** The longest time between two acknowledged creates. */
  longestMs(): number {
    return Math.round(Math.max(0, ...this.#times.slice(1).map((time, at) => time - (this.#times[at] ?? time))));
  }

  figures(): string {
    return `${this.acknowledged.size} creates, none acknowledged for ${this.longestMs()} ms, ${this.#unavailable} answers 503`;
  }
}
