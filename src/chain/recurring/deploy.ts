import { formatEther } from 'viem';
import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { RelayerSigner } from '../../config/relayer.ts';
import { pause } from '../../lib/time.ts';
import { queryAccount } from '../relay/account.ts';
import { broadcast } from '../relay/broadcast.ts';
import { exceedsFeeLimit, firstOffer } from '../relay/fees.ts';
import { signCall } from '../relay/sign.ts';
import { simulateCall } from '../relay/simulate.ts';
import { connectRpc, type Hex, nullOfRpc, type Receipt } from '../rpc.ts';
import { deploymentCall, deterministicDeployer, recurringAddress } from './contract.ts';
import { type ContractState, queryContractState } from './deployed-code.ts';

/** The result of a deployment. The sender is null if the contract was already deployed. */
export type Deployment = { address: Hex; sender: Hex | null; txHash: Hex | null; feeWei: bigint };

/** Why the contract could not be deployed: a sentence that says what to do. */
export class DeployFault extends Error {}

const timeoutMs = 5_000;
/** How long the transaction may take to be mined, and how long endpoints that lag may take to see it. */
const usualWaits = { minedMs: 180_000, seenMs: 30_000 };

/** The account whose presigned transaction deploys the deterministic deployer, and how much coin it needs. */
const deployersMaker = '0x3fab184622dc19b6109349b94811493bf2a45362 0.01';

/**
 * Deploys the contract on a chain, unless it is deployed already, and compares the deployed code with the artifact's.
 * Its address is the same on every chain. Can be called again at any time.
 *
 * @param signer who pays; null if nobody can
 * @throws DeployFault
 */
export async function deployRecurring(
  chain: ChainConfig,
  signer: RelayerSigner | null,
  waits = usualWaits,
): Promise<Deployment> {
  const address = recurringAddress();
  const target = { ...chain, recurringContract: address };
  const state = await queryContractState(target);
  if (state === 'deployed') return { address, sender: null, txHash: null, feeWei: 0n };
  if (state !== 'absent') throw faultOf(state, chain, address);
  if (!signer) throw new DeployFault('No key can pay for the deployment. Set DEPLOYER_KEY or RELAYER_KEYS.');
  await checkDeployer(chain);
  const hash = await send(chain, signer);
  const receipt = await waitMined(chain, hash, waits.minedMs);
  if (!receipt.success) throw new DeployFault(`The transaction ${hash} failed on chain ${chain.chainId}.`);
  await waitUntilSeen(target, address, waits.seenMs);
  return { address, sender: signer.address, txHash: hash, feeWei: receipt.feeWei };
}

function faultOf(state: ContractState, { chainId }: ChainConfig, address: Hex): DeployFault {
  return new DeployFault(
    state === 'foreign'
      ? `The code at ${address} on chain ${chainId} is not this version’s contract, or an endpoint says so.`
      : `An endpoint of chain ${chainId} does not answer. Check rpc_urls in CHAINS_FILE, then run this again.`,
  );
}

async function checkDeployer(chain: ChainConfig): Promise<void> {
  const rpc = connectRpc(chain.rpcUrls[0] ?? '', timeoutMs);
  const [chainId, code] = await Promise.all([rpc.chainId(), rpc.code(deterministicDeployer)]);
  if (chainId !== chain.chainId) throw new DeployFault(`${rpc.host} serves chain ${chainId}, not ${chain.chainId}.`);
  if (code !== '0x') return;
  const [maker, coin] = deployersMaker.split(' ');
  throw new DeployFault(
    `Chain ${chainId} has no deterministic deployer at ${deterministicDeployer}, without which the contract would have another address there. Send ${coin} of the chain’s coin to ${maker} and broadcast the deployer’s signed transaction (docs/contracts.md), then run this again. A chain that refuses that transaction cannot have automatic charges.`,
  );
}

async function send(chain: ChainConfig, signer: RelayerSigner): Promise<Hex> {
  const call = { from: signer.address, to: deterministicDeployer, data: deploymentCall() };
  const account = await queryAccount(chain, signer.address);
  const limits = limitsOf(chain);
  if (exceedsFeeLimit(account, limits)) {
    throw new DeployFault(`Chain ${chain.chainId} asks for more than the relayer’s highest fee. Run this again later.`);
  }
  const simulation = await simulateCall(chain, call);
  const offer = firstOffer(account, limits);
  const gas = simulation.kind === 'ok' ? simulation.gas + simulation.gas / 5n : 0n;
  if (simulation.kind !== 'ok' || account.balanceWei < gas * offer.maxFeeWei) {
    const needed = gas > 0n ? ` It needs ${formatEther(gas * offer.maxFeeWei)}.` : '';
    throw new DeployFault(
      `${signer.address} cannot deploy on chain ${chain.chainId}: it has ${formatEther(account.balanceWei)} ${chain.coin ?? 'ETH'}.${needed}`,
    );
  }
  const unsigned = { ...offer, gas, to: call.to, data: call.data, chainId: chain.chainId, nonce: account.maxNonce };
  const { signed, hash } = await signCall(signer, unsigned);
  const answer = await broadcast(chain, signed);
  if (answer.kind !== 'accepted') throw new DeployFault(`No endpoint accepted the transaction: ${answer.message}`);
  return hash;
}

async function waitMined(chain: ChainConfig, hash: Hex, limitMs: number): Promise<Receipt> {
  const found = await repeat(limitMs, chain.pollMs, async () => {
    for (const url of chain.rpcUrls) {
      const receipt = await connectRpc(url, timeoutMs).receipt(hash).catch(nullOfRpc);
      if (receipt) return receipt;
    }
    return null;
  });
  if (found) return found;
  throw new DeployFault(`The transaction ${hash} was sent but is not mined yet. Run this again when it is.`);
}

async function waitUntilSeen(chain: ChainConfig, address: Hex, limitMs: number): Promise<void> {
  const seen = await repeat(limitMs, chain.pollMs, async () => {
    const state = await queryContractState(chain);
    return state === 'absent' || state === 'unreachable' ? null : state;
  });
  if (seen === 'deployed') return;
  throw new DeployFault(
    `The transaction was mined on chain ${chain.chainId}, but the contract is not at ${address} as expected.`,
  );
}

async function repeat<T>(limitMs: number, everyMs: number, ask: () => Promise<T | null>): Promise<T | null> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await ask();
    if (found !== null || performance.now() > deadline) return found;
    await pause(everyMs);
  }
}
