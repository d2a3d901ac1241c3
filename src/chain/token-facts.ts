import { decodeAbiParameters, type Hex } from 'viem';
import { nullOfRpc, type Rpc } from './rpc.ts';
import { decimalsCall } from './tokens.ts';

/**
 * What a contract says about itself. Anybody can deploy a contract that says anything, so show this but never rely on
 * it.
 */
export type TokenFacts = { decimals: number | null; symbol: string | null };

/** `symbol()` */
const symbolCall = '0x95d89b41';
const maxSymbolLength = 20;
/** 10^77 is the largest power of ten that a token's amounts can hold. */
const maxDecimals = 77;

/** Asks a contract for decimals and symbol; null for what it does not answer as a token would. */
export async function readTokenFacts(rpc: Rpc, address: string): Promise<TokenFacts> {
  const [decimals, symbol] = await Promise.all([ask(rpc, address, decimalsCall), ask(rpc, address, symbolCall)]);
  return {
    decimals: decimals === null ? null : readDecimals(decimals),
    symbol: symbol === null ? null : readSymbol(symbol),
  };
}

async function ask(rpc: Rpc, address: string, data: string): Promise<string | null> {
  try {
    return await rpc.call(address, data);
  } catch (error) {
    return nullOfRpc(error);
  }
}

function readDecimals(answer: string): number | null {
  if (answer.length !== 66) return null;
  const decimals = BigInt(answer);
  return decimals <= BigInt(maxDecimals) ? Number(decimals) : null;
}

/** A string, or 32 bytes as in some old tokens; only letters, digits and a few other characters, at most 20. */
export function readSymbol(answer: string): string | null {
  const clean = [...readText(answer).normalize('NFC')]
    .filter((character) => /[\p{L}\p{N}\p{Sc} ._+-]/u.test(character))
    .slice(0, maxSymbolLength)
    .join('')
    .trim();
  return clean || null;
}

function readText(answer: string): string {
  if (answer.length === 66) {
    return Buffer.from(answer.slice(2), 'hex').toString('utf8').replace(/\0+$/, '');
  }
  try {
    return decodeAbiParameters([{ type: 'string' }], answer as Hex)[0].slice(0, 1_000);
  } catch {
    return ''; // not what a token answers
  }
}
