import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Page } from 'playwright-core';

/**
 * A software device that makes passkeys and signs with them, for answers that no honest browser gives. The keys are
 * P-256. It returns what browser code would send.
 */
export type Device = {
  /** Answers the options for a new passkey. */
  make(options: MakeOptions, lies?: Lies): string;
  /** Answers the options for signing in, with the newest passkey. */
  show(options: ShowOptions, lies?: Lies): string;
};

type MakeOptions = { challenge: string; rp: { id: string }; user: { id: string } };
type ShowOptions = { challenge: string; rpId: string };
/** False values that the device sends instead of the true ones. */
export type Lies = {
  origin?: string;
  rpId?: string;
  userHandle?: string;
  counter?: number;
  /** False: the owner did not unlock the device. */
  verified?: boolean;
  signature?: Buffer;
  challenge?: string;
  /** A different attestation format. */
  format?: string;
};

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();

/** A CBOR head: major type, and a length below 65,536. */
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  return length < 256 ? Buffer.of((major << 5) | 24, length) : Buffer.of((major << 5) | 25, length >> 8, length & 255);
}
const text = (value: string) => Buffer.concat([head(3, value.length), Buffer.from(value)]);
const bytes = (value: Uint8Array) => Buffer.concat([head(2, value.length), value]);

/** @param origin of the pages on which it is used */
export function softwareDevice(origin: string): Device {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  let handle = '';
  let counter = 0;
  // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
  const cose = Buffer.concat([
    Buffer.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21),
    bytes(Buffer.from(x, 'base64url')),
    Buffer.of(0x22),
    bytes(Buffer.from(y, 'base64url')),
  ]);
  const client = (type: string, challenge: string, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (rpId: string, made: boolean, lies: Lies) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? ++counter);
    const flags = 0x01 | ((lies.verified ?? true) ? 0x04 : 0) | (made ? 0x40 : 0);
    const made_ = made ? [Buffer.alloc(16), Buffer.of(0, id.length), id, cose] : [];
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.of(flags), count, ...made_]);
  };
  const answer = (response: object) =>
    JSON.stringify({
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      clientExtensionResults: {},
      response,
    });

  return {
    make: ({ challenge, rp, user }, lies = {}) => {
      handle = user.id;
      const attestation = Buffer.concat([
        head(5, 3),
        ...[text('fmt'), text(lies.format ?? 'none'), text('attStmt'), head(5, 0)],
        ...[text('authData'), bytes(authenticatorData(rp.id, true, lies))],
      ]);
      return answer({
        clientDataJSON: base64url(client('webauthn.create', challenge, lies)),
        attestationObject: base64url(attestation),
      });
    },
    show: ({ challenge, rpId }, lies = {}) => {
      const clientData = client('webauthn.get', challenge, lies);
      const data = authenticatorData(rpId, false, lies);
      const signature = lies.signature ?? sign('sha256', Buffer.concat([data, sha256(clientData)]), privateKey);
      return answer({
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: lies.userHandle ?? handle,
      });
    },
  };
}

/** Gives the browser of a page a device that stores passkeys and whose owner always agrees. */
export async function plugInDevice(page: Page) {
  const tools = await page.context().newCDPSession(page);
  await tools.send('WebAuthn.enable');
  const { authenticatorId } = await tools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    /** Ids of the stored passkeys. */
    passkeys: async () => {
      const { credentials } = await tools.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials;
    },
    /** Sets whether the owner unlocks the device from now on. */
    refuse: (refusing: boolean) =>
      tools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: !refusing }),
    unplug: () => tools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
  };
}
