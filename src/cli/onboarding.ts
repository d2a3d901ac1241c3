import { isAddress, isUuid } from '../lib/ids.ts';
import { onboardWithKey } from '../sandbox/onboard.ts';
import { releaseWallet } from '../wallets/release.ts';
import { commandLine } from './actor.ts';
import { type Command, optionalOption, word } from './command.ts';

export const onboardingCommands: Command[] = [
  {
    name: 'sandbox onboard',
    usage: '<account_id> [--private-key 0x…]',
    summary: 'Onboards a merchant as the page does: signs in with a wallet and accepts the terms.',
    run: async (ctx, args) => {
      const accountId = word(args, 0, 'The account ID');
      if (!isUuid(accountId)) throw new Error('An account ID looks like 3f2b8c1e-….');
      const key = optionalOption(args, 'private-key') ?? undefined;
      return onboardWithKey(ctx, accountId.toLowerCase(), key);
    },
  },
  {
    name: 'wallet release',
    usage: '<address>',
    summary: 'Releases a wallet that was named when a merchant was created, but that nobody has signed with.',
    run: async (ctx, args) => {
      const address = word(args, 0, 'The wallet address');
      if (!isAddress(address)) throw new Error('A wallet address is 0x and 40 hex digits.');
      const released = await releaseWallet(ctx, commandLine, address);
      if (!released) {
        throw new Error(`${address} is not a wallet that was only named, without a signature. Nothing was changed.`);
      }
      return { wallet_address: address.toLowerCase(), released: true };
    },
  },
];
