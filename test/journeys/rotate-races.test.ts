import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { webhookCommands } from '../../src/cli/webhooks.ts';
import { activateDueSecrets, activateSecret, readEndpoint, rotateSecret, setUrl } from '../../src/webhooks/endpoint.ts';
import { EndpointRefusal } from '../../src/webhooks/refusal.ts';
import { deliveryStage, firstRotation } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

describe('rotating a secret', () => {
  let stage: Awaited<ReturnType<typeof deliveryStage>>;
  before(async () => {
    stage = await deliveryStage();
  });
  after(() => stage?.stop());

  /** How many sessions wait for a lock of another. */
  async function blocked(): Promise<number> {
    const [row] = await stage.db.sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    return row?.waiting;
  }

  async function endpoint() {
    const { partner, test: scope } = await makePartner(stage.db);
    await setUrl(stage.ctx, theService, scope, 'http://127.0.0.1:9/');
    return { partner, scope };
  }

  test('two rotations wait for the endpoint at once → one makes the pending secret, the other is refused and changes nothing', async () => {
    const { scope } = await endpoint();
    const rotations = await stage.owner.begin(async (tx) => {
      await tx`select from webhook_endpoints where partner_id = ${scope.partnerId} for update`;
      const both = [1, 2].map(() => rotateSecret(stage.ctx, theService, scope, firstRotation));
      await until(async () => (await blocked()) === 2, 'both to wait');
      return { both };
    });
    const ended = await Promise.allSettled(rotations.both);
    const made = ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
    assert.deepEqual([made.length, refused.length], [1, 1]);
    assert.ok(refused[0] instanceof EndpointRefusal);
    assert.equal(refused[0].reason, 'other_pending');
    assert.equal((await readEndpoint(stage.ctx, scope))?.pendingSecret, made[0]);
    const acts = await stage.db.sql`
      select from audit_log where partner_id = ${scope.partnerId} and action = 'webhook.secret_rotated'`;
    assert.equal(acts.length, 1);
    await activateSecret(stage.ctx, theService, scope);
    assert.equal((await readEndpoint(stage.ctx, scope))?.secret, made[0]);
  });

  test('a pending secret that the caller knows of is replaced; one that came in its place is not', async () => {
    const { scope } = await endpoint();
    await rotateSecret(stage.ctx, theService, scope, firstRotation);
    const since = (await readEndpoint(stage.ctx, scope))?.pendingSince ?? assert.fail('nothing is pending');
    const second = await rotateSecret(stage.ctx, theService, scope, { formKey: null, replaces: since });
    const late = rotateSecret(stage.ctx, theService, scope, { formKey: null, replaces: since });
    await assert.rejects(late, { reason: 'other_pending' });
    assert.equal((await readEndpoint(stage.ctx, scope))?.pendingSecret, second);
  });

  test('two commands replace the same pending secret at once → one does, the other is refused', async () => {
    const { partner, scope } = await endpoint();
    await rotateSecret(stage.ctx, theService, scope, firstRotation);
    const command = webhookCommands.find(({ name }) => name === 'webhook rotate') ?? assert.fail('no command');
    const options = { partner: partner.slug, mode: 'test', replace: true } as const;
    const both = await stage.owner.begin(async (tx) => {
      await tx`select from webhook_endpoints where partner_id = ${scope.partnerId} for update`;
      const running = [1, 2].map(() => command.run(stage.ctx, { words: [], options }));
      await until(async () => (await blocked()) === 2, 'both to wait');
      return { running };
    });
    const ended = await Promise.allSettled(both.running);
    const made = ended.flatMap((end) => (end.status === 'fulfilled' ? [end.value.secret] : []));
    assert.deepEqual(made, [(await readEndpoint(stage.ctx, scope))?.pendingSecret]);
  });

  test('a due secret is replaced while the loop activates it → the new one stays pending for its 24 hours', async () => {
    const { scope } = await endpoint();
    const due = await rotateSecret(stage.ctx, theService, scope, firstRotation);
    await stage.db.sql`
      update webhook_endpoints set pending_since = now() - interval '25 hours' where partner_id = ${scope.partnerId}`;
    const { activating } = await stage.owner.begin(async (tx) => {
      // What a rotation writes.
      await tx`
        update webhook_endpoints set secret = pending_secret, pending_since = now()
        where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
      const activating = activateDueSecrets(stage.ctx);
      await until(async () => (await blocked()) === 1, 'the loop waits');
      return { activating };
    });
    assert.equal(await activating, 0);
    const after = await readEndpoint(stage.ctx, scope);
    assert.equal(after?.secret, due);
    assert.ok(after?.pendingSince, 'nothing has taken over before its time');
  });

  test('webhook rotate while a secret is pending → a sentence that names both ways out; --replace replaces it', async () => {
    const { partner, scope } = await endpoint();
    const run = (options: Record<string, string | true> = {}) =>
      webhookCommands
        .find(({ name }) => name === 'webhook rotate')
        ?.run(stage.ctx, { words: [], options: { partner: partner.slug, mode: 'test', ...options } });
    const first = await run();
    await assert.rejects(
      async () => run(),
      /has been pending since .*Z\. Activate it with webhook activate, or replace it with webhook rotate --replace/,
    );
    assert.equal((await readEndpoint(stage.ctx, scope))?.pendingSecret, first?.secret);
    const second = await run({ replace: true });
    assert.equal((await readEndpoint(stage.ctx, scope))?.pendingSecret, second?.secret);
  });
});
