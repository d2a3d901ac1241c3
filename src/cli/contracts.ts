import { formatEther } from 'viem';
import { recurringAddress } from '../chain/recurring/contract.ts';
import { DeployFault, deployRecurring } from '../chain/recurring/deploy.ts';
import { type ContractState, queryContractState } from '../chain/recurring/deployed-code.ts';
import { allChains, type ChainConfig } from '../config/chains.ts';
import type { RelayerSigner } from '../config/relayer.ts';
import type { Context } from '../context.ts';
import type { Mode } from '../lib/mode.ts';
import { type Arguments, type Command, UsageFault } from './command.ts';
import { type Finding, ifReachable } from './finding.ts';

type Place = { mode: Mode; chain: ChainConfig };

/** The chains that `--chain` names, or all. */
function chosen({ chains }: Context, { options }: Arguments): Place[] {
  const all = (['test', 'live'] as const).flatMap((mode) => chains[mode].map((chain) => ({ mode, chain })));
  if (options.chain === undefined) return all;
  const named = all.filter(({ chain }) => String(chain.chainId) === options.chain);
  const ids = all.map(({ chain }) => chain.chainId).join(', ');
  if (named.length === 0) throw new UsageFault(`--chain must be one of the configured chains: ${ids}.`);
  return named;
}

/** A chain with the contract's configured address or, if none is configured, the address that a deployment gives it. */
const located = (chain: ChainConfig) => ({
  ...chain,
  recurringContract: chain.recurringContract ?? recurringAddress(),
});

const unaudited = 'It has not been audited by an outside party: see docs/contracts.md.';

async function show(ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const places = chosen(ctx, args);
  const chains = await Promise.all(
    places.map(async ({ mode, chain }) => ({
      chain_id: chain.chainId,
      name: chain.name,
      mode,
      address: located(chain).recurringContract,
      configured: chain.recurringContract !== null,
      code: await queryContractState(located(chain)),
    })),
  );
  return { address: recurringAddress(), note: unaudited, chains };
}

/**
 * The signer that pays for deployments: the deployer, or else the relayer. The relayer's calls take their nonces from
 * the database. A deployment during such a call could use its nonce, and the call would have to be sent again.
 *
 * @throws DeployFault if the relayer has calls in progress
 */
async function payerOn({ db, config }: Context, { chainId }: ChainConfig): Promise<RelayerSigner | null> {
  if (config.deployer) return config.deployer;
  const [signer] = config.relayer.signers;
  if (!signer) return null;
  const [row] = await db.sql<{ busy: boolean }[]>`
    select exists (select from relay_transactions where chain_id = ${chainId} and from_address = ${signer.address}
      and state in ('allotted', 'sent')) as busy`;
  if (row?.busy) {
    throw new DeployFault(
      `The relayer has transactions under way on chain ${chainId}. Run this again in a minute, or set DEPLOYER_KEY.`,
    );
  }
  return signer;
}

async function deployOn(ctx: Context, chain: ChainConfig): Promise<Record<string, unknown>> {
  const about = { chain_id: chain.chainId, name: chain.name };
  try {
    const done = await deployRecurring(chain, await payerOn(ctx, chain));
    const state = done.txHash === null ? 'already deployed' : 'deployed';
    return { ...about, state, tx_hash: done.txHash, sender: done.sender, fee: formatEther(done.feeWei), advice: '' };
  } catch (error) {
    if (!(error instanceof DeployFault)) throw error;
    return { ...about, state: 'failed', tx_hash: null, sender: null, fee: '0', advice: error.message };
  }
}

async function deploy(ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const chains: Record<string, unknown>[] = [];
  for (const { chain } of chosen(ctx, args)) chains.push(await deployOn(ctx, chain));
  const next =
    ctx.config.sandbox && !ctx.config.chains
      ? 'The sandbox uses it automatically.'
      : `Set RECURRING_CONTRACT=${recurringAddress()} and restart the service.`;
  return { address: recurringAddress(), next, note: unaudited, chains };
}

/** Commands for the contract of recurring payments. */
export const contractCommands: Command[] = [
  {
    name: 'contracts show',
    withAnyKeys: true,
    usage: '[--chain N]',
    summary: 'Shows the address of the contract for automatic charges, and whether it is deployed on each chain.',
    run: show,
  },
  {
    name: 'contracts deploy',
    withAnyKeys: true,
    usage: '[--chain N]',
    summary:
      'Deploys the contract where it is not deployed yet, and compares the code. DEPLOYER_KEY pays, or the relayer. Exits with 1 when a chain failed.',
    hasFailed: ({ chains }) => (chains as { state: string }[]).some(({ state }) => state === 'failed'),
    run: deploy,
  },
];

/** What `doctor` reports about a chain's contract. */
const findings: Record<ContractState, (chain: ChainConfig) => Omit<Finding, 'check'>> = {
  deployed: () => ({ state: 'ok', advice: '' }),
  none: () => ({ state: 'ok', advice: 'RECURRING_CONTRACT is not set: plans are not charged automatically.' }),
  absent: ({ chainId }) => ({
    state: 'attention',
    advice: `Not deployed, so plans are not charged automatically here: run contracts deploy --chain ${chainId}.`,
  }),
  foreign: () => ({
    state: 'failed',
    advice: 'The code at RECURRING_CONTRACT is not this version’s: contracts show prints the right address.',
  }),
  unreachable: () => ({
    state: 'attention',
    advice: 'An endpoint does not respond, so the code could not be compared.',
  }),
};

/** Compares the code at RECURRING_CONTRACT on every chain with the artifact's; without the database only that. */
export async function checkContracts({ db, chains }: Context): Promise<Finding[]> {
  const rows = await ifReachable(
    db.sql<{ chain_id: string; many: string }[]>`
      select chain_id, count(*) as many from mandates where state = 'active' group by chain_id`,
  );
  return Promise.all(
    allChains(chains).map(async (chain) => {
      const check = `automatic charges, chain ${chain.chainId}`;
      const state = await queryContractState(chain);
      const finding = findings[state](chain);
      const many = Number(rows?.find(({ chain_id }) => Number(chain_id) === chain.chainId)?.many ?? 0);
      if (many === 0 || (state !== 'none' && state !== 'absent')) return { check, ...finding };
      const agreed = `Customers have agreed to automatic charges here (${many}), but none can be made.`;
      return { check, state: 'failed' as const, advice: `${agreed} ${finding.advice}` };
    }),
  );
}
