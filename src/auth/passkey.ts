import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Config } from '../config.ts';
import { bytesOfUuid } from '../lib/ids.ts';
import { type HostOwner, hostAddress } from './host.ts';
import { challengeMs } from './passkey-challenge.ts';

/** Ed25519, P-256 and RSA with SHA-256: what authenticators support. */
const algorithms = [-8, -7, -257];

/** Loaded when the first passkey is used: it takes 25 MB of memory and 200 ms, and many nodes never need it. */
const library = () => import('@simplewebauthn/server');

/** The relying party of a passkey: `id` is the page's host name or a parent domain of it. */
export type RelyingParty = { id: string; origin: string };

/**
 * The relying party for a host. A passkey made on any of our hosts works on all of them. Under a name without a dot,
 * such as `localhost`, browsers treat each host separately.
 *
 * @returns null where browsers support no passkeys: on an IP address, and on an unknown host
 */
export function relyingParty(config: Pick<Config, 'baseUrl'>, host: HostOwner): RelyingParty | null {
  const base = new URL(config.baseUrl).hostname;
  if (host === undefined || isIP(base.replace(/^\[|\]$/g, ''))) return null;
  const { origin, hostname } = new URL(hostAddress(config, host));
  return { id: base.includes('.') ? base : hostname, origin };
}

/** The browser's request for a passkey. It names no account, so it reveals nothing about anybody. */
export async function authenticationOptions(
  party: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return (await library()).generateAuthenticationOptions({
    rpID: party.id,
    challenge,
    userVerification: 'required',
    timeout: challengeMs,
  });
}

/** The user who gets a passkey: `name` is what the browser lists it under, `held` the ids of existing ones. */
export type PasskeyUser = { id: string; name: string; place: string; held: Buffer[] };

/** The browser's request to create a passkey: stored on the device and unlocked by its owner. */
export async function registrationOptions(
  party: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  user: PasskeyUser,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  return (await library()).generateRegistrationOptions({
    rpName: user.place,
    rpID: party.id,
    userName: user.name,
    userDisplayName: user.name,
    userID: new Uint8Array(handleOf(user.id)),
    challenge,
    timeout: challengeMs,
    attestationType: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: user.held.map((id) => ({ id: id.toString('base64url') })),
    supportedAlgorithmIDs: algorithms,
  });
}

/** The account that a passkey claims to belong to: the user's id. */
const handleOf = bytesOfUuid;

/** A browser's response, parsed but not yet verified. */
export type PasskeyAnswer = { credentialId: Buffer; challenge: string; response: unknown };

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Parses the JSON that a form submits; null when it is not a browser's response. */
export function readAnswer(typed: unknown): PasskeyAnswer | null {
  try {
    const response: unknown = JSON.parse(String(typed));
    if (!isObject(response) || !isObject(response.response) || typeof response.id !== 'string') return null;
    const client = JSON.parse(Buffer.from(String(response.response.clientDataJSON), 'base64url').toString());
    if (typeof client?.challenge !== 'string') return null;
    return { credentialId: Buffer.from(response.id, 'base64url'), challenge: client.challenge, response };
  } catch {
    return null; // no JSON
  }
}

/** A new passkey; its public key is in COSE format. */
export type NewPasskey = { credentialId: Buffer; publicKey: Buffer; counter: number };

/** Verifies a new passkey; its challenge must already be consumed. Null if anything is wrong. */
export async function verifyRegistration(party: RelyingParty, answer: PasskeyAnswer): Promise<NewPasskey | null> {
  const response = answer.response as RegistrationResponseJSON;
  try {
    if (!(await namesNoMaker(response))) return null;
    const { verified, registrationInfo } = await (await library()).verifyRegistrationResponse({
      response,
      expectedChallenge: answer.challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return null;
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: Buffer.from(id, 'base64url'), publicKey: Buffer.from(publicKey), counter };
  } catch {
    return null; // the library throws whenever something is wrong
  }
}

/**
 * Whether a response has no attestation. We do not request one, and verifying it could call addresses that it names.
 */
async function namesNoMaker({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** A stored passkey, and its user. */
export type StoredPasskey = { userId: string; publicKey: Buffer };

/**
 * Verifies that a passkey's device has signed and was unlocked by its owner; the challenge must already be consumed.
 *
 * @returns the device's signature counter, which the caller must compare; null if anything is wrong
 */
export async function verifyAuthentication(
  party: RelyingParty,
  answer: PasskeyAnswer,
  held: StoredPasskey,
): Promise<number | null> {
  const response = answer.response as AuthenticationResponseJSON;
  try {
    const handle = Buffer.from(response.response.userHandle ?? '', 'base64url');
    if (!handle.equals(handleOf(held.userId))) return null;
    const { verified, authenticationInfo } = await (await library()).verifyAuthenticationResponse({
      response,
      expectedChallenge: answer.challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: answer.credentialId.toString('base64url'),
        publicKey: new Uint8Array(held.publicKey),
        counter: 0, // the caller compares the counter, once the signature is known to be right
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null; // the library throws whenever something is wrong
  }
}

/** Whether a signature counter has not grown, which means that the passkey was copied. Devices without one report 0. */
export function isCloned(before: number, now: number): boolean {
  return (before > 0 || now > 0) && now <= before;
}
