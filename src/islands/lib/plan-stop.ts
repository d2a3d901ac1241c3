import { hasSwitchedTo } from './ensure-network.ts';
import { currentChain, type FoundWallet, isDeclined, knownAccounts } from './wallets.ts';

/** What is signed to stop automatic charges, by which account and on which network. */
type StopOrder = { payer: string; chainId: number; typed: string };
type Stopped = { kind: 'signed'; signature: string } | { kind: 'declined'; wallet: string };

/**
 * Has the wallet that agreed sign the end, if it is in this browser. Otherwise, or if it cannot sign, the signature is
 * empty: the link is enough to stop.
 */
export async function signStop(
  { payer, chainId, typed }: StopOrder,
  wallets: FoundWallet[],
  tell: (text: string, wallet: string) => void,
): Promise<Stopped> {
  const unsigned: Stopped = { kind: 'signed', signature: '' };
  for (const wallet of wallets) {
    if (!(await knownAccounts(wallet)).includes(payer)) continue;
    tell('signStop', wallet.info.name);
    try {
      const isThere =
        (await currentChain(wallet)) === chainId ||
        (await hasSwitchedTo(wallet, { chainId, name: '', explorerUrl: null }));
      if (!isThere) return unsigned;
      const params = [payer, typed];
      const signature = await wallet.provider.request({ method: 'eth_signTypedData_v4', params });
      return { kind: 'signed', signature: String(signature) };
    } catch (error) {
      return isDeclined(error) ? { kind: 'declined', wallet: wallet.info.name } : unsigned;
    }
  }
  return unsigned;
}
