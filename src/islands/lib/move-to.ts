import { refusalFrom, WalletRefusal } from './refusal.ts';
import { changeChain, currentChain, type FoundWallet, type WalletChain } from './wallets.ts';

/**
 * Moves a wallet to a network. Does nothing if it is there already.
 *
 * @param switching called before the wallet asks its owner
 * @throws WalletRefusal wrongNetwork if the wallet stays on another network
 */
export async function moveTo(wallet: FoundWallet, chain: WalletChain, switching: () => void): Promise<void> {
  if ((await currentChain(wallet)) === chain.chainId) return;
  switching();
  await changeChain(wallet, chain).catch((error) => {
    const refusal = refusalFrom(error, 'wrongNetwork');
    // Who declines learns which network is needed.
    throw refusal.text === 'rejected' ? new WalletRefusal('wrongNetwork') : refusal;
  });
  // Some wallets report success without switching.
  if ((await currentChain(wallet)) !== chain.chainId) throw new WalletRefusal('wrongNetwork');
}
