import { deploymentCall, deterministicDeployer, recurringAddress } from '../chain/recurring/contract.ts';
import { readDeployedCode } from '../chain/recurring/state.ts';
import { callRpc, connectRpc, toHex } from '../chain/rpc.ts';
import { minter } from './usdc.ts';
import { submit } from './wallet.ts';

/**
 * Deploys the contract of recurring payments on a local chain, unless it is already there. Anvil includes the
 * deterministic deployer, so the contract has the same address as on other chains.
 *
 * @throws Error if the deployment fails
 */
export async function ensureRecurringContract(url: string, chainId: number): Promise<void> {
  const rpc = connectRpc(url);
  const isDeployed = async () => (await readDeployedCode(rpc, chainId, recurringAddress())) === 'deployed';
  if (await isDeployed()) return;
  const transaction = { from: minter, to: deterministicDeployer, data: deploymentCall(), gas: toHex(3_000_000) };
  await submit(url, () => callRpc(url, 'eth_sendTransaction', [transaction]));
  if (!(await isDeployed())) throw new Error('The contract for automatic charges could not be deployed.');
}
