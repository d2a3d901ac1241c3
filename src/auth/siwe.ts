import { randomBytes } from 'node:crypto';
import { getAddress, hashMessage } from 'viem';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';
import { isKeySigned, isKeySized, queryContract, readSignature } from '../chain/signature.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Sql, Tx } from '../db/connection.ts';
import { AttemptLimit } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { isAddress } from '../lib/ids.ts';
import { hostAddress, type OwnHost } from './host.ts';

/** What a wallet is asked to sign. Each purpose has its own text, so a signature for one is not valid for another. */
export type WalletRequest = {
  /** The path of the page that asks: `/onboard`. */
  path: string;
  /** One line in which the wallet's owner states what the signature is for, naming the parties and the subject. */
  statement: string;
};

/** The wallet that must sign, and the host of the page that asks. A message for one host is not valid on another. */
export type AskedWallet = { address: string; chainId: number; host: OwnHost | null };

/** A signed message. The transaction that acts on it must consume its `nonce`. */
export type SignedMessage = { address: string; chainId: number; nonce: string; expiresAt: Date };

/** How long a message may wait for its signature. */
const messageMs = 15 * minuteMs;
/** Our messages have a few hundred characters. Parsing is quadratic in the length, so long ones are not parsed. */
const maxMessageLength = 2_048;
/** How often the chains may be queried about one message. An honest wallet needs few attempts. */
const asksOfMessage = 5;
const asks = new AttemptLimit(asksOfMessage, messageMs);
const saltBytes = 12;
const macBytes = 16;

type MessageContext = Pick<Context, 'config' | 'clock'>;

/**
 * Makes an EIP-4361 message to be signed. It is single-use and valid for 15 minutes; nothing is stored until it is
 * used.
 */
export function makeWalletMessage(ctx: MessageContext, request: WalletRequest, wallet: AskedWallet): string {
  const expiresAt = new Date(ctx.clock.now().getTime() + messageMs);
  const salt = randomBytes(saltBytes).toString('hex');
  const unproved = writeMessage(ctx, request, { ...wallet, expiresAt, nonce: salt });
  const nonce = salt + proofOf(newest(ctx.config.secretKeys), unproved).toString('hex');
  return writeMessage(ctx, request, { ...wallet, expiresAt, nonce });
}

function writeMessage(
  { config }: MessageContext,
  request: WalletRequest,
  message: SignedMessage & Pick<AskedWallet, 'host'>,
): string {
  const site = hostAddress(config, message.host?.slug ?? null);
  return createSiweMessage({
    address: getAddress(message.address.toLowerCase()),
    chainId: message.chainId,
    domain: new URL(site).host,
    uri: site + request.path,
    version: '1',
    nonce: message.nonce,
    issuedAt: new Date(message.expiresAt.getTime() - messageMs),
    expirationTime: message.expiresAt,
    statement: request.statement,
  });
}

/** Proves that we made a message: a keyed hash of its whole text with only the salt as its nonce. */
function proofOf(secret: SecretKey, unproved: string): Buffer {
  return keyedHash(secret, 'wallet-message', unproved).subarray(0, macBytes);
}

/**
 * Checks a returned message. The service rebuilds it from what it knows and compares the whole text, so no field, line
 * or character can differ. Says nothing about the signature.
 *
 * @returns `message_changed` for a text that we did not make for this request; `message_used` if it has expired
 */
export function readWalletMessage(
  ctx: MessageContext,
  request: WalletRequest,
  { message: input, host }: Omit<SignedMessageInput, 'signature'>,
): SignedMessage | 'message_changed' | 'message_used' {
  if (input.length > maxMessageLength) return 'message_changed';
  const text = withPlainLineEnds(input);
  const { address, chainId, nonce, expirationTime: expiresAt } = parseSiweMessage(text);
  if (!isAddress(address) || !chainId || !nonce || !expiresAt) return 'message_changed';
  if (Number.isNaN(expiresAt.getTime()) || !/^[0-9a-f]{56}$/.test(nonce)) return 'message_changed';
  const message = { address: address.toLowerCase(), chainId, nonce, expiresAt };
  if (writeMessage(ctx, request, { ...message, host }) !== text) return 'message_changed';
  const unproved = writeMessage(ctx, request, { ...message, host, nonce: nonce.slice(0, 2 * saltBytes) });
  const proof = Buffer.from(nonce.slice(2 * saltBytes), 'hex');
  if (!matchesAnyKey(ctx.config.secretKeys, (secret) => proofOf(secret, unproved), proof)) return 'message_changed';
  return expiresAt > ctx.clock.now() ? message : 'message_used';
}

/** Consumes a message; false when it was already used. Deletes those that expired long ago. */
export async function useWalletMessage(tx: Tx | Sql, message: SignedMessage, now: Date): Promise<boolean> {
  const { count } = await tx`
    with forgotten as (
      delete from used_wallet_messages where expires_at < ${now}::timestamptz - interval '30 days')
    insert into used_wallet_messages (nonce, expires_at) values (${message.nonce}, ${message.expiresAt})
    on conflict do nothing`;
  return count === 1;
}

/** Forms send line breaks as CR LF; the signed text has LF. */
function withPlainLineEnds(message: string): string {
  return message.replaceAll('\r\n', '\n').trim();
}

/** Why a wallet's message and signature prove nothing. */
export type WalletFault =
  | 'message_changed'
  | 'message_used'
  | 'signature_invalid'
  | 'wallet_not_deployed'
  | 'chain_unreachable'
  | 'too_many_attempts';

type WalletProof =
  /**
   * `chainIds`: for a contract wallet, the chains on which its deployed code accepted the signature; null means any
   * chain.
   */
  | { valid: true; chainIds: number[] | null }
  | { valid: false; reason: Exclude<WalletFault, 'message_changed' | 'message_used'> };

/**
 * Checks that a wallet signed a message that we made for this request, on one of these chains. It queries the chains,
 * so never call it inside a transaction; the transaction consumes the message with `useWalletMessage`.
 *
 * @param mayQuery uses up one of the caller's chain queries; false if none is left
 * @returns a WalletFault as text, or what was signed and, for a contract wallet, the chains that accepted it
 */
export async function proveMessage(
  ctx: MessageContext,
  request: WalletRequest,
  chains: ChainConfig[],
  input: SignedMessageInput,
  mayQuery: (now: Date) => boolean,
): Promise<(SignedMessage & { chainIds: number[] | null }) | WalletFault> {
  const signed = readWalletMessage(ctx, request, input);
  if (typeof signed === 'string') return signed;
  const text = withPlainLineEnds(input.message);
  const now = ctx.clock.now();
  const mayAsk = () => asks.take(signed.nonce, now) && mayQuery(now);
  const proof = await proveWallet(chains, signed.address, text, input.signature, mayAsk);
  return proof.valid ? { ...signed, chainIds: proof.chainIds } : proof.reason;
}

/** A submitted message and its signature, and the host to which they were sent. */
export type SignedMessageInput = { message: string; signature: string; host: OwnHost | null };

/**
 * Checks that a wallet signed a message: by its key, or by its contract on each chain where it is deployed. May query
 * the chains, so never call it inside a transaction.
 */
async function proveWallet(
  chains: ChainConfig[],
  address: string,
  message: string,
  typed: string,
  mayAsk: () => boolean,
): Promise<WalletProof> {
  const signature = readSignature(typed);
  if (signature === null) return { valid: false, reason: 'signature_invalid' };
  const signed = { address, hash: hashMessage(message), signature };
  if (await isKeySigned(signed)) return { valid: true, chainIds: null };
  if (chains.length > 0 && !mayAsk()) return { valid: false, reason: 'too_many_attempts' };
  // Only deployed code counts: on a chain without the wallet, somebody else might deploy another one at its address.
  const words = await Promise.all(chains.map((chain) => queryContract(chain, signed, { undeployed: false })));
  const accepted = chains.filter((_, i) => words[i] === 'accepted').map(({ chainId }) => chainId);
  if (accepted.length > 0) return { valid: true, chainIds: accepted };
  if (words.includes('refused')) return { valid: false, reason: 'signature_invalid' };
  if (words.includes('unreachable')) return { valid: false, reason: 'chain_unreachable' };
  // A signature of a key's length belongs to another key; a longer one belongs to a contract that is not deployed.
  const contracts = chains.length > 0 && !isKeySized(signature);
  return { valid: false, reason: contracts ? 'wallet_not_deployed' : 'signature_invalid' };
}
