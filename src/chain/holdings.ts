import { type Hex, type Rpc, RpcError, toHex } from './rpc.ts';

/** A wallet's balance of a token and its allowance for a contract, in the token's smallest unit. */
export type Holdings = { balance: bigint; allowance: bigint };

/** How many wallets one call covers, so that the program stays below the limit of 48 KiB for code. */
export const maxWallets = 80;
const callGas = 20_000_000n;
/** Nobody's address: a call without a recipient needs a sender. */
const nobody: Hex = `0x${'00'.repeat(19)}01`;

const word = (value: bigint | number) => BigInt(value).toString(16).padStart(64, '0');
const wordOf = (address: Hex) => address.slice(2).padStart(64, '0');
/** PUSH32 value, PUSH3 place, MSTORE. */
const store = (value: string, place: number) => `7f${value}62${place.toString(16).padStart(6, '0')}52`;
const push3 = (value: number) => `62${value.toString(16).padStart(6, '0')}`;

/**
 * A program that queries a token and returns the answers, for `eth_call` without a recipient. So it needs no deployed
 * contract, and one call serves many wallets. For each question it returns the number of bytes that the token answered,
 * and the answer.
 */
function program(token: Hex, questions: string[]): Hex {
  const answersAt = 0x80;
  const parts = questions.map((data, i) => {
    const at = answersAt + 64 * i;
    const words = (data.match(/.{1,64}/g) ?? []).map((part, n) => store(part.padEnd(64, '0'), 32 * n)).join('');
    // STATICCALL(gas, token, 0, size, answer, 32). The number of bytes precedes the answer; 0 if the call failed.
    return `${words}6020${push3(at + 32)}${push3(data.length / 2)}${push3(0)}73${token.slice(2)}5afa3d02${push3(at)}52`;
  });
  return `0x${parts.join('')}${push3(64 * questions.length)}${push3(answersAt)}f3`;
}

/**
 * Reads wallets' balances and allowances as of the provider's newest block, with one call to the provider.
 *
 * @param wallets at most `maxWallets`
 * @throws RpcError also if the token does not answer
 */
export async function readHoldings(rpc: Rpc, token: Hex, contract: Hex, wallets: readonly Hex[]): Promise<Holdings[]> {
  if (wallets.length === 0) return [];
  const questions = wallets.flatMap((wallet) => [
    `70a08231${wordOf(wallet)}`, // balanceOf(wallet)
    `dd62ed3e${wordOf(wallet)}${wordOf(contract)}`, // allowance(wallet, contract)
  ]);
  const answer = await rpc.tryCall({ from: nobody, data: program(token, questions), gas: toHex(callGas) });
  const words = answer.slice(2).match(/.{64}/g) ?? [];
  const read = (i: number): bigint => {
    if (words[2 * i] !== word(32)) throw new RpcError('malformed', `${rpc.host}: the token ${token} does not answer`);
    return BigInt(`0x${words[2 * i + 1]}`);
  };
  return wallets.map((_, i) => ({ balance: read(2 * i), allowance: read(2 * i + 1) }));
}
