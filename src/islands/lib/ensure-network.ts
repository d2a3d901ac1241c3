import { refusalFrom, WalletRefusal } from './refusal.ts';
import { changeChain, currentChain, type FoundWallet, type WalletChain } from './wallets.ts';

/**
 * Moves a wallet to a network. Does nothing if it is there already.
 *
 * @param switching called before the wallet asks its owner
 * @param fault the name of the text for a wallet that stays on another network
 * @throws WalletRefusal with this text if the wallet stays on another network
 */
export async function ensureNetwork(
  wallet: FoundWallet,
  chain: WalletChain,
  switching: () => void,
  fault: 'wrongNetwork' | 'signNetwork' = 'wrongNetwork',
): Promise<void> {
  if ((await currentChain(wallet)) === chain.chainId) return;
  switching();
  const isThere = await hasSwitchedTo(wallet, chain).catch((error) => {
    const refusal = refusalFrom(error, fault);
    // Who declines learns which network is needed.
    throw refusal.text === 'rejected' ? new WalletRefusal(fault) : refusal;
  });
  if (!isThere) throw new WalletRefusal(fault);
}

/**
 * Switches a wallet to a network, and looks whether it has: some wallets report success without switching. Throws what
 * the wallet throws.
 */
export async function hasSwitchedTo(wallet: FoundWallet, chain: WalletChain): Promise<boolean> {
  await changeChain(wallet, chain);
  return (await currentChain(wallet)) === chain.chainId;
}
