import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { callRpc, type Hex } from '../../../src/chain/rpc.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import * as wallet from '../../../src/sandbox/wallet.ts';
import { endWhenOrphaned } from '../end-when-orphaned.ts';
import { startDevChain } from './dev-chain.ts';

export type TestWallet = { privateKey: Hex; address: Hex };
type Offer = {
  from: TestWallet;
  to: string;
  usdcMicro: bigint;
  reference?: Uint8Array;
  ahead?: number;
  feeFactor?: bigint;
};
export type TestChain = Awaited<ReturnType<typeof testChain>>;

/**
 * A real chain with the real USDC contract for one test file. Only transactions and `mine` make blocks.
 *
 * `pay` first gives the payer what it needs, and returns the hash of the transfer.
 */
export async function testChain(options: { chainId?: number; pollMs?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-chain-'));
  const anvil = await startDevChain(options.chainId ?? 31337, folder);
  const endWatch = endWhenOrphaned(anvil.pid, 'TERM', folder);
  const chain: ChainConfig = { ...anvil.chain, pollMs: options.pollMs ?? 50 };
  let before: Promise<unknown> = Promise.resolve();
  return {
    chain,
    /**
     * Does one thing after the other. Anvil does not keep mining and reorganising apart: a transaction that it mines
     * during a reorganisation can have a receipt without its effect, and the blocks below it are gone.
     */
    alone: <T>(work: () => Promise<T>): Promise<T> => {
      const done = before.then(work);
      before = done.catch(() => {});
      return done;
    },
    folder,
    pid: anvil.pid,
    mine: (blocks: number) => wallet.mine(chain, blocks),
    reorg: (depth: number) => wallet.reorg(chain, depth),
    /** Sends a transaction again that a reorganisation removed, and waits until it is mined. */
    resend: (signed: string) => {
      const url = chain.rpcUrls[0] ?? '';
      return wallet.submit(url, () => callRpc(url, 'eth_sendRawTransaction', [signed]));
    },
    fund: (address: string, usdcMicro: bigint) => wallet.fund(chain, address, usdcMicro),
    /** A new wallet without funds. */
    wallet: (): TestWallet => {
      const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
      return { privateKey, address: privateKeyToAccount(privateKey).address.toLowerCase() as Hex };
    },
    pay: async (payment: { from: TestWallet; to: string; usdcMicro: bigint; reference?: Uint8Array }) => {
      const { from, to, usdcMicro, reference } = payment;
      const enough = (await wallet.usdcBalance(chain, from.address)) >= usdcMicro;
      await wallet.fund(chain, from.address, enough ? 0n : usdcMicro);
      return wallet.sendUsdc(chain, { privateKey: from.privateKey, to, usdcMicro, reference });
    },
    /** Submits a payment without waiting. With `ahead`, it waits for that many earlier ones of the wallet. */
    offer: async (payment: Offer) => {
      const { from, ahead = 0, feeFactor } = payment;
      const data = wallet.transferCall(payment);
      const token = chain.tokens[0]?.address ?? '';
      const signed = await wallet.signCall(chain, from.privateKey, token, data, { nonce: ahead, feeFactor });
      return (await callRpc(chain.rpcUrls[0] ?? '', 'eth_sendRawTransaction', [signed])) as string;
    },
    stop: async () => {
      endWatch();
      await anvil.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
