import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { isAddress } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { readDevChains } from '../sandbox/chain.ts';
import { whileRehearsing } from '../sandbox/rehearsal.ts';
import * as wallet from '../sandbox/wallet.ts';
import { type Command, numberOption, option, testModeOption, UsageFault, word } from './command.ts';

/**
 * The local chain of a mode.
 *
 * @throws Error in production, and if the sandbox's chains are configured by a file or were never started
 */
export function sandboxChain(ctx: Context, testMode: boolean): ChainConfig {
  const chains = ctx.config.sandbox && !ctx.config.chains ? readDevChains(ctx.config.dataDir) : null;
  const chain = chains?.[modeOf(testMode)][0];
  if (!chain)
    throw new Error('There is no local chain. Start the sandbox first with `npm start`, without CHAINS_FILE.');
  return chain;
}

function describe(chain: ChainConfig) {
  return { chain_id: chain.chainId, rpc_url: chain.rpcUrls[0], usdc: chain.tokens[0]?.address };
}

/** Changes blocks of a chain while no rehearsal runs on it and the service does not mine. */
async function alone(ctx: Context, chain: ChainConfig, change: () => Promise<void>): Promise<Record<string, unknown>> {
  if (!(await whileRehearsing(ctx.db, chain, change)))
    throw new Error('Another test payment is using the local chain. Try again in a few seconds.');
  return { chain_id: chain.chainId, block_number: await wallet.headNumber(chain) };
}

/** Commands for the sandbox's chains. */
export const chainCommands: Command[] = [
  {
    name: 'sandbox chain',
    withAnyKeys: true,
    usage: '',
    summary: 'Shows the local chains: id, RPC URL and USDC contract.',
    run: async (ctx) => ({ test: describe(sandboxChain(ctx, true)), live: describe(sandboxChain(ctx, false)) }),
  },
  {
    name: 'sandbox fund',
    withAnyKeys: true,
    usage: '<address> --usdc-micro N --mode test|live',
    summary: 'Gives an address USDC, and ether for gas, on a local chain.',
    run: async (ctx, args) => {
      const address = word(args, 0, 'The address');
      if (!isAddress(address)) throw new Error('The address must be 0x and 40 hex digits.');
      const amount = option(args, 'usdc-micro');
      if (!/^\d{1,30}$/.test(amount)) throw new UsageFault('--usdc-micro must be a whole number of micro units.');
      const chain = sandboxChain(ctx, testModeOption(args));
      const txHash = await wallet.fund(chain, address, BigInt(amount));
      const balance = await wallet.usdcBalance(chain, address);
      return { address: address.toLowerCase(), tx_hash: txHash, usdc_micro: balance.toString() };
    },
  },
  {
    name: 'sandbox reorg',
    withAnyKeys: true,
    usage: '--mode test|live --depth N',
    summary: 'Replaces the last blocks of a local chain with empty ones, as a reorganisation does.',
    run: async (ctx, args) => {
      const chain = sandboxChain(ctx, testModeOption(args));
      const depth = numberOption(args, 'depth', { min: 1, max: 200 });
      return alone(ctx, chain, () => wallet.reorg(chain, depth));
    },
  },
  {
    name: 'sandbox mine',
    withAnyKeys: true,
    usage: '--mode test|live --blocks N',
    summary: 'Mines empty blocks on a local chain.',
    run: async (ctx, args) => {
      const chain = sandboxChain(ctx, testModeOption(args));
      const blocks = numberOption(args, 'blocks', { min: 1, max: 10_000 });
      return alone(ctx, chain, () => wallet.mine(chain, blocks));
    },
  },
];
