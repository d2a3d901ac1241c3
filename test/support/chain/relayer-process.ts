import { randomUUID } from 'node:crypto';
import { scopeOf } from '../../../src/auth/scope.ts';
import { followRelays } from '../../../src/chain/relay/follow.ts';
import { dispatch } from '../../../src/chain/relay/relay.ts';
import { connect } from '../../../src/db/connection.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import { devUsdcAddress } from '../../../src/sandbox/usdc.ts';
import { idleChain, testContext } from '../app.ts';
import { accessTo } from '../database.ts';
import { allotAlone, approval } from './relay-fixtures.ts';

/** A process that enqueues calls, sends and follows them until it is killed: the test kills it. */
const chain = { ...idleChain(31337), rpcUrls: [process.env.RELAY_RPC ?? ''], pollMs: 10 };
const ctx = testContext(connect(accessTo(process.env.RELAY_DATABASE ?? '')), { chains: { test: [chain], live: [] } });
const scope = scopeOf(process.env.RELAY_PARTNER ?? '', true);
const call = () => ({
  ...{ scope, chain, from: null, to: devUsdcAddress, data: approval(7n) },
  ...{ purpose: 'revoke' as const, subjectId: randomUUID(), accountId: randomUUID() },
});
process.stdout.write('ready\n');
for (;;) {
  const id = await allotAlone(ctx, call());
  if (process.env.RELAY_DIES === 'allotted') process.kill(process.pid, 'SIGKILL');
  await dispatch(ctx, id);
  await followRelays(ctx, chain, findOvertaken);
}
