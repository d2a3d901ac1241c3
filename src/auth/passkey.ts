import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import type { Config } from '../config.ts';
import { type HostOwner, hostAddress } from './host.ts';
import { challengeMs } from './passkey-challenge.ts';

/** Ed25519, P-256 and RSA with SHA-256: what devices can do. */
const algorithms = [-8, -7, -257];

/** Loaded at the first passkey: it takes 25 MB and 200 ms, and many nodes never see one. */
const library = () => import('@simplewebauthn/server');

/** Whom a passkey is made for: `id` is a host name that the page's own one is or ends with. */
export type RelyingParty = { id: string; origin: string };

/**
 * Whom passkeys are made for on a host. One that is made on any of our hosts works on all of them; below a name without
 * a dot, such as `localhost`, browsers keep each host for itself.
 *
 * @returns null where browsers know no passkeys: on an address without a name, and on a host that is nobody's
 */
export function relyingParty(config: Pick<Config, 'baseUrl'>, host: HostOwner): RelyingParty | null {
  const base = new URL(config.baseUrl).hostname;
  if (host === undefined || isIP(base.replace(/^\[|\]$/g, ''))) return null;
  const { origin, hostname } = new URL(hostAddress(config, host));
  return { id: base.includes('.') ? base : hostname, origin };
}

/** What a browser is asked for a passkey with. No account is named, so the question tells nothing about anybody. */
export async function askOptions(
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

/** Who gets a passkey: `name` is what the browser lists it under, `held` the ids of those that there are already. */
export type PasskeyUser = { id: string; name: string; place: string; held: Buffer[] };

/** What a browser is asked to make a passkey with: kept on the device, unlocked by its owner. */
export async function makeOptions(
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

/** What a passkey says it belongs to: the user's id. */
const handleOf = (userId: string) => Buffer.from(userId.replaceAll('-', ''), 'hex');

/** What a browser handed back, as far as it can be read without being believed. */
export type PasskeyAnswer = { credentialId: Buffer; challenge: string; response: unknown };

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Reads the JSON that a form brings; null when it is no answer of a browser. */
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

/** A passkey that was made: its public key is COSE. */
export type NewPasskey = { credentialId: Buffer; publicKey: Buffer; counter: number };

/** Checks a passkey that a browser made; the challenge must be taken already. Null when something about it is not right. */
export async function proveNew(party: RelyingParty, answer: PasskeyAnswer): Promise<NewPasskey | null> {
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
    return null; // the library throws for each thing that is wrong
  }
}

/** We ask for no certificate of the device's maker. One that comes is refused: checking it would call addresses it names. */
async function namesNoMaker({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(response.attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined);
}

/** A passkey as it is kept, and whose it is. */
export type HeldPasskey = { userId: string; publicKey: Buffer };

/**
 * Checks that the device of a passkey has signed, unlocked by its owner; the challenge must be taken already.
 *
 * @returns how often the device says it has signed, not compared yet; null when something is not right
 */
export async function proveHeld(party: RelyingParty, answer: PasskeyAnswer, held: HeldPasskey): Promise<number | null> {
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
        counter: 0, // compared by the caller, who knows then that the signature is right
      },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null; // the library throws for each thing that is wrong
  }
}

/** True when a device tells a count that it had told before: there are two of it. Devices that do not count say 0. */
export function isCopy(before: number, now: number): boolean {
  return (before > 0 || now > 0) && now <= before;
}
