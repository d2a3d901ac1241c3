import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { newSecret, signedHeaders, verifySignature } from './sign.ts';

const body = fc.oneof(fc.json(), fc.string({ unit: 'binary' }));
const eventOf = (text: string) => ({ deliveryId: crypto.randomUUID(), event: 'payment.proof_verified', body: text });

describe('signatures', () => {
  test('a secret is whsec_ and the base64 of 32 bytes', () => {
    const secret = newSecret();
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32);
  });

  test('the documented recipe verifies every signature, with nothing but an HMAC', () => {
    fc.assert(
      fc.property(
        body,
        fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }),
        (text, now) => {
          const secret = newSecret();
          const headers = signedHeaders(eventOf(text), secret, null, now);
          const [, v1, t] = /^v1=([0-9a-f]{64}),t=(\d+)$/.exec(headers['x-service-signature'] ?? '') ?? [];
          assert.equal(v1, createHmac('sha256', secret).update(`${t}.${text}`).digest('hex'));
          assert.equal(Number(t), Math.floor(now.getTime() / 1000));
          assert.equal(verifySignature(secret, headers['x-service-signature'], text, now), true);
          assert.equal(verifySignature(secret, headers['x-service-signature'], Buffer.from(text), now), true);
        },
      ),
    );
  });

  test('the standardwebhooks package verifies every delivery, with either secret during a rotation', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const [old, pending] = [newSecret(), newSecret()];
        const headers = signedHeaders(eventOf(text), old, pending, new Date());
        for (const secret of [old, pending])
          assert.deepEqual(new Webhook(secret).verify(text, headers), JSON.parse(text));
        assert.throws(() => new Webhook(newSecret()).verify(text, headers));
        assert.equal(headers['x-service-signature']?.match(/v1=/g)?.length, 1);
      }),
    );
  });

  test('a changed body, time, secret or signature does not verify', () => {
    const now = new Date();
    fc.assert(
      fc.property(fc.json(), fc.json(), fc.nat({ max: 63 }), (text, other, at) => {
        const secret = newSecret();
        const header = signedHeaders(eventOf(text), secret, null, now)['x-service-signature'] ?? '';
        const t = Math.floor(now.getTime() / 1000);
        const flipped = header.slice(0, 3 + at) + (header[3 + at] === '0' ? '1' : '0') + header.slice(4 + at);
        assert.equal(verifySignature(secret, header, other, now), other === text);
        assert.equal(verifySignature(secret, header.replace(`t=${t}`, `t=${t + 1}`), text, now), false);
        assert.equal(verifySignature(newSecret(), header, text, now), false);
        assert.equal(verifySignature(secret, flipped, text, now), false);
      }),
    );
  });

  test('malformed headers and times more than 300 s away do not verify', () => {
    const secret = newSecret();
    const now = new Date(1_800_000_000_000);
    const header = signedHeaders(eventOf('{}'), secret, null, now)['x-service-signature'] ?? '';
    for (const wrong of [
      undefined,
      '',
      header.toUpperCase(),
      `${header},v1=00`,
      ` ${header}`,
      header.replace('v1', 'v2'),
    ]) {
      assert.equal(verifySignature(secret, wrong, '{}', now), false);
    }
    for (const [ms, valid] of [
      [-300_000, true],
      [300_000, true],
      [-301_000, false],
      [301_000, false],
    ] as const) {
      assert.equal(verifySignature(secret, header, '{}', new Date(now.getTime() + ms)), valid, `${ms}`);
    }
  });
});
