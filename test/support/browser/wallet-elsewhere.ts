import { randomUUID } from 'node:crypto';
import { SignClient } from '@walletconnect/sign-client';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { callRpc } from '../../../src/chain/rpc.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import { MemoryStorage } from '../../../src/islands/lazy/memory-storage.ts';
import { signCall } from '../../../src/sandbox/wallet.ts';

type Client = Awaited<ReturnType<typeof SignClient.init>>;

const refusal = { code: 5000, message: 'User rejected.' };

/**
 * A phone's wallet with the real WalletConnect client: it takes a code, approves, signs and sends on a real chain. What
 * a test changes on `owner` applies from the next call on.
 */
export async function walletElsewhere(relayUrl: string, chain: ChainConfig) {
  const privateKey = generatePrivateKey();
  const address = privateKeyToAccount(privateKey).address.toLowerCase() as Hex;
  const client = await SignClient.init({
    projectId: '0'.repeat(32),
    relayUrl,
    // Each has its own state, although they share a process.
    customStoragePrefix: randomUUID(),
    storage: new MemoryStorage(),
    metadata: { name: 'Pocket', description: 'A wallet elsewhere', url: 'https://wallet.example', icons: [] },
    telemetryEnabled: false,
    logger: 'silent',
  });
  // Otherwise it would ask a service of its maker about the page.
  client.core.verify.resolve = async () => undefined as never;
  const owner = { agrees: true, sends: true };
  const proposed: { name: string; chains: string[] }[] = [];
  const sent: string[] = [];
  const ended = Promise.withResolvers<void>();
  client.on('session_delete', () => ended.resolve());
  client.on('session_proposal', ({ id, params }) => {
    proposed.push({
      name: params.proposer.metadata.name,
      chains: params.optionalNamespaces.eip155?.chains ?? [],
    });
    const methods = params.optionalNamespaces.eip155?.methods ?? [];
    void answerProposal(client, { id, agrees: owner.agrees, methods, chain: `eip155:${chain.chainId}`, address });
  });
  client.on('session_request', async ({ id, topic, params }) => {
    const { method } = params.request;
    const [call] = params.request.params as { to: Hex; data: Hex }[];
    if (owner.sends && method === 'eth_signTypedData_v4') {
      const [, typed = ''] = params.request.params as string[];
      const result = await privateKeyToAccount(privateKey).signTypedData(JSON.parse(typed));
      await client.respond({ topic, response: { id, jsonrpc: '2.0', result } });
      return;
    }
    if (owner.sends && method === 'personal_sign') {
      const [raw = '0x'] = params.request.params as Hex[];
      const result = await privateKeyToAccount(privateKey).signMessage({ message: { raw } });
      await client.respond({ topic, response: { id, jsonrpc: '2.0', result } });
      return;
    }
    if (!owner.sends || method !== 'eth_sendTransaction' || !call) {
      await client.respond({ topic, response: { id, jsonrpc: '2.0', error: refusal } });
      return;
    }
    const signed = await signCall(chain, privateKey, call.to, call.data);
    const hash = (await callRpc(chain.rpcUrls[0] ?? '', 'eth_sendRawTransaction', [signed])) as string;
    sent.push(hash);
    await client.respond({ topic, response: { id, jsonrpc: '2.0', result: hash } });
  });
  return {
    address,
    privateKey,
    owner,
    /** The connections that the page asked for. */
    proposed,
    /** Hashes of the transactions it sent. */
    sent,
    /** Resolves when the page has ended the session. */
    ended: ended.promise,
    scan: (uri: string) => client.pair({ uri }),
    stop: () => {
      client.core.heartbeat.stop();
      return client.core.relayer.transportClose();
    },
  };
}

type Answer = { id: number; agrees: boolean; methods: string[]; chain: string; address: string };

async function answerProposal(client: Client, { id, agrees, methods, chain, address }: Answer) {
  if (!agrees) {
    await client.reject({ id, reason: refusal });
    return;
  }
  const namespaces = {
    eip155: {
      chains: [chain],
      methods,
      events: ['chainChanged', 'accountsChanged'],
      accounts: [`${chain}:${address}`],
    },
  };
  const { acknowledged } = await client.approve({ id, namespaces });
  await acknowledged();
}
