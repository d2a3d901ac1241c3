import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { followRelays } from '../../../src/chain/relay/follow.ts';
import { relayerAddresses } from '../../../src/chain/relay/relay.ts';
import { callRpc } from '../../../src/chain/rpc.ts';
import type { Context } from '../../../src/context.ts';
import {
  authorizationCall,
  authorizationTypedData,
  type SignedAuthorization,
} from '../../../src/payments/authorized/authorization.ts';
import { submitAuthorization } from '../../../src/payments/authorized/submit.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import { authorizationNonce } from '../../../src/requests/authorization-nonce.ts';
import type { RequestRow } from '../../../src/requests/store.ts';
import { sendTransaction } from '../../../src/sandbox/wallet.ts';
import type { TestWallet } from '../chain/chain.ts';
import { fundRelayer, learnDomains, lookAnew } from '../chain/relayer.ts';
import { payFixtures } from './pay-fixtures.ts';

export type AuthorizedFixtures = Awaited<ReturnType<typeof authorizedFixtures>>;

/** What differs from an authorization of exactly what is due. */
export type Change = Partial<Omit<SignedAuthorization, 'from'>> & { counter?: number };

/** `payFixtures` with a relayer that holds coin, whose loop runs only when a test says so. */
export async function authorizedFixtures() {
  const fixtures = await payFixtures();
  const { chain } = fixtures.node;
  const [token] = chain.tokens;
  if (!token) throw new Error('the chain has no token');
  await fundRelayer(chain);
  await learnDomains(chain);
  const follow = async () => {
    await lookAnew(fixtures.db);
    await followRelays(fixtures.ctx, chain, findOvertaken);
  };
  await follow();
  const all = {
    ...fixtures,
    chain,
    token,
    /** One pass of the relayer's loop. */
    follow,
    rpc: (method: string, params: unknown[] = []) => callRpc(chain.rpcUrls[0] ?? '', method, params),
    /** A wallet with money and no coin for fees. */
    payer: async (usdcMicro = 10n ** 9n): Promise<TestWallet> => {
      const wallet = fixtures.node.wallet();
      await fixtures.node.fund(wallet.address, usdcMicro);
      await all.rpc('anvil_setBalance', [wallet.address, '0x0']);
      return wallet;
    },
    /** An authorization of what is due, signed by a wallet's key. */
    sign: async (request: RequestRow, from: TestWallet, change: Change = {}): Promise<SignedAuthorization> => {
      const { counter = 0, ...rest } = change;
      const terms = {
        from: from.address,
        to: request.wallet_address as Hex,
        valueMicro: BigInt(request.usdc_micro),
        validAfter: 0n,
        validBefore: BigInt(Math.floor(fixtures.clock.now().getTime() / 1000) + 300),
        nonce: `0x${authorizationNonce(request.reference, counter).toString('hex')}` as Hex,
        ...rest,
      };
      const domain = { name: 'USD Coin', version: '2' };
      const data = authorizationTypedData({ chainId: chain.chainId, address: token.address, domain }, terms);
      const signature = rest.signature ?? (await privateKeyToAccount(from.privateKey).signTypedData(data));
      return { ...terms, signature };
    },
    /** Submits an authorization; `dueMicro`: what the page asks for. */
    submit: (
      request: RequestRow,
      signed: SignedAuthorization,
      dueMicro = BigInt(request.usdc_micro),
      within: Context = fixtures.ctx,
    ) =>
      submitAuthorization(within, fixtures.scope, {
        ...{ requestId: request.id, accountId: request.account_id, chain, token, amountMicro: dueMicro, signed },
      }),
    /** Executes an authorization from another wallet, as anybody can. */
    execute: (signed: SignedAuthorization, by: TestWallet) =>
      sendTransaction(chain, by.privateKey, token.address, authorizationCall(signed)),
    /** The relayer's transactions that are mined. */
    sent: async () => Number(await all.rpc('eth_getTransactionCount', [relayerAddresses(fixtures.ctx)[0], 'latest'])),
    settle: async () => {
      await fixtures.node.mine(3);
      await fixtures.turn();
      await follow();
    },
  };
  return all;
}
