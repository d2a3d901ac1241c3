import { encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { theService } from '../../src/audit/write.ts';
import { recurringAddress } from '../../src/chain/recurring/contract.ts';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { fundLookalike } from '../../src/sandbox/lookalike.ts';
import { minter } from '../../src/sandbox/usdc.ts';
import * as wallet from '../../src/sandbox/wallet.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { testConfig, testContext } from '../support/app.ts';
import { type TestChain, type TestWallet, testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { giants } from '../support/chain/giant-transactions.ts';
import { makeKey, makeMerchant, makePartner, randomAddress, secretsText, setRate } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { codeOf, makeContractPayer, placeWallet, startElsewhere } from './contract-wallets.ts';
import { type FaultyDatabase, startDatabase } from './database.ts';
import type { Stranger } from './dust.ts';
import { Model, type Payer, rates, type Where } from './model.ts';
import { type FaultyNode, makeNode } from './nodes.ts';
import { Settings, writeChains } from './settings.ts';

const partnerCount = 3;
const keysEach = 25;
const payerCount = 240;
const spareWallets = 3;
const fundsMicro = 10n ** 15n;
/** How many blocks follow the set-up, so that no reorganisation reaches it. */
const blocksBefore = 45;

/** A merchant's wallet. `privateKey` is null for a contract wallet, `isOn` for any other wallet. */
export type Wallet = { address: Hex; privateKey: Hex | null; isOn: Where | null };
/** `isReset`: it was returned to the start of onboarding, and may have no wallet now. */
export type Merchant = { id: string; isReset: boolean };
export type Partner = { scope: Scope; keys: string[]; merchants: Merchant[]; receiver: Receiver };
type Endpoint = Awaited<ReturnType<typeof fakeProvider>>;

/** All that takes part: real processes, database, chain and receivers, and the model of what they should do. */
export type Stage = {
  database: FaultyDatabase;
  /** The truth: nobody lies between us and it. */
  chain: TestChain;
  /** Another chain of the same mode, on which nothing breaks. */
  elsewhere: TestChain;
  /** The endpoints of the nodes: the first may lie, the second only fails. */
  endpoints: [Endpoint, Endpoint];
  nodes: [FaultyNode, FaultyNode];
  settings: Settings;
  partners: Partner[];
  /** All wallets that merchants have, had or may take. */
  wallets: Wallet[];
  /** Customers with money, each with coin for fees and an allowance for the contract of automatic charges. */
  payers: TestWallet[];
  executor: TestWallet;
  /** Its code is on the first chain only. */
  contractPayer: Payer;
  /** The sender of thousands of transfers. */
  strangers: Stranger[];
  /** The simulator's own connection to database and chain, for what merchants do. */
  ctx: Context;
  model: Model;
  end(): Promise<void>;
};

export const chainOf = ({ chain, elsewhere }: Stage, where: Where): ChainConfig =>
  (where === 'here' ? chain : elsewhere).chain;

/** @param onBroken called when something happens that must never happen */
export async function makeStage(onBroken: (what: string) => void): Promise<Stage> {
  const stops: (() => unknown)[] = [];
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const database = await startDatabase();
    stops.push(database.end);
    const chain = await testChain();
    stops.push(chain.stop);
    const elsewhere = await startElsewhere();
    stops.push(elsewhere.stop);
    const target = chain.chain.rpcUrls[0] ?? '';
    const endpoints: Stage['endpoints'] = [await fakeProvider(target), await fakeProvider(target)];
    stops.push(...endpoints.map(({ stop }) => stop));
    const ctx = testContext(database.db, {
      config: testConfig(),
      chains: { test: [chain.chain, elsewhere.chain], live: [] },
    });
    await setRate(database.db, 'EUR', rates[0]);
    const customers = { payers: Array.from({ length: payerCount }, chain.wallet), executor: chain.wallet() };
    const partners: Partner[] = [];
    const wallets = await makeSpares(chain);
    for (let i = 0; i < partnerCount; i++) {
      const partner = await makeParty(ctx, i, { here: chain, elsewhere }, wallets);
      stops.push(partner.receiver.close);
      partners.push(partner);
    }
    const contractPayer = await makeContractPayer(chain, elsewhere);
    const strangers = [await giants(chain), await giants(chain)];
    await fundCustomers(elsewhere, customers);
    await fundCustomers(chain, customers);
    const chainsFiles = await writeChains(database.folder, { chain, elsewhere, endpoints });
    const env = { ...environment(database, ctx.config.baseUrl), CHAINS_FILE: chainsFiles.usual };
    const node = (name: string) => makeNode(name, env, database.folder, onBroken);
    const nodes: Stage['nodes'] = [await node('one'), await node('two')];
    stops.push(...nodes.map(({ kill }) => kill));
    await Promise.all(nodes.map(({ start }) => start()));
    const settings = new Settings(nodes, chainsFiles);
    const parties = { partners, wallets, ...customers, contractPayer, strangers };
    return { database, chain, elsewhere, endpoints, nodes, settings, ...parties, ctx, model: new Model(), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Wallets that merchants move to. */
async function makeSpares(chain: TestChain): Promise<Wallet[]> {
  const spares = Array.from({ length: spareWallets }, (): Wallet => ({ ...chain.wallet(), isOn: null }));
  for (const { address } of spares) await addCoin(chain, address);
  return spares;
}

/** A merchant's wallet pays the network fees of its refunds. */
export const addCoin = ({ chain }: TestChain, address: Hex) =>
  callRpc(wallet.endpointOf(chain).url, 'anvil_setBalance', [address, '0xde0b6b3a7640000']);

async function makeParty(
  ctx: Context,
  number: number,
  chains: Record<Where, TestChain>,
  wallets: Wallet[],
): Promise<Partner> {
  const { test: scope } = await makePartner(ctx.db);
  const receiver = await startReceiver();
  await setUrl(ctx, theService, scope, receiver.url);
  const merchants: Merchant[] = [];
  for (const isOn of codeOf(number)) {
    const own = chains.here.wallet();
    const address = isOn ? await placeWallet(chains[isOn]) : own.address;
    const { id } = await makeMerchant(ctx.db, scope, { wallet: address });
    if (isOn) {
      const ids = [chains[isOn].chain.chainId]; // what signing in with it finds
      await ctx.db.sql`update merchants set wallet_chain_ids = ${ids} where id = ${id}`;
    }
    await addCoin(chains.here, address);
    wallets.push({ address, privateKey: isOn ? null : own.privateKey, isOn });
    merchants.push({ id, isReset: false });
  }
  const keys: string[] = [];
  for (let i = 0; i < keysEach; i++) keys.push((await makeKey(ctx.db, scope)).key);
  return { scope, keys, merchants, receiver };
}

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

/** Money, coin and allowances for all customers, in a few blocks. */
async function fundCustomers({ chain }: TestChain, { payers, executor }: Pick<Stage, 'payers' | 'executor'>) {
  const { url, usdc } = wallet.endpointOf(chain);
  await fundLookalike(chain, randomAddress(), 1n); // deploys it
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'approve',
    args: [recurringAddress(), fundsMicro],
  });
  for (const { address } of [...payers, executor]) {
    await callRpc(url, 'anvil_setBalance', [address, '0x56bc75e2d63100000']);
  }
  await callRpc(url, 'evm_setAutomine', [false]);
  for (const { address, privateKey } of payers) {
    const data = encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [address, fundsMicro] });
    await callRpc(url, 'eth_sendTransaction', [{ from: minter, to: usdc, data, gas: '0x30d40' }]);
    const signed = await wallet.signCall(chain, privateKey, usdc, approve, { nonce: 0 });
    await callRpc(url, 'eth_sendRawTransaction', [signed]);
  }
  await callRpc(url, 'evm_setAutomine', [true]);
  await wallet.mine(chain, blocksBefore);
}

function environment(database: FaultyDatabase, baseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    DATA_DIR: database.folder,
    SECRET_KEYS: secretsText,
    RECURRING_CONTRACT: recurringAddress(),
    BASE_URL: baseUrl,
    TRUST_PROXY: '127.0.0.1',
    PAGE_LIMIT: '100000',
    WEBHOOK_SCHEDULE_SECONDS: Array(50).fill('0.5').fill('0', 0, 1).join(),
    LOG_LEVEL: 'warn',
  };
}
