import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

/** The part of `ws` that is used here. It comes with WalletConnect, without types. */
type Socket = {
  send(text: string): void;
  terminate(): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
  on(event: 'close', listener: () => void): void;
};
type SocketServer = { clients: Set<Socket>; on(event: 'connection', listener: (socket: Socket) => void): void };
const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
  WebSocketServer: new (options: { server: Server }) => SocketServer;
};

type Call = { id: number | string; method?: string; params?: Record<string, unknown> };
type Message = { topic: string; message: string; publishedAt: number; tag?: unknown; attestation?: unknown };

/**
 * A WalletConnect relay on a loopback port. It passes encrypted messages to the subscribers of their topic, and keeps
 * them for later subscribers. `stop` takes the relay down; `start` brings it back at the same address.
 */
export async function startRelay() {
  const mailbox = new Map<string, Message[]>();
  let server: Server;
  let sockets: SocketServer;
  let port = 0;
  const start = async () => {
    server = createServer();
    sockets = new WebSocketServer({ server });
    const listeners = new Map<string, Set<Socket>>();
    sockets.on('connection', (socket) => serve(socket, listeners, mailbox));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  return {
    url: `ws://127.0.0.1:${port}`,
    /** How many clients are connected. */
    clients: () => sockets.clients.size,
    start,
    stop: async () => {
      for (const socket of sockets.clients) socket.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(socket: Socket, listeners: Map<string, Set<Socket>>, mailbox: Map<string, Message[]>): void {
  let pushes = 0;
  const push = (to: Socket, data: Message) => {
    const params = { id: data.topic, data };
    to.send(JSON.stringify({ jsonrpc: '2.0', id: Date.now() * 1000 + ++pushes, method: 'irn_subscription', params }));
  };
  const listen = (topic: string) => {
    const all = listeners.get(topic) ?? new Set();
    listeners.set(topic, all.add(socket));
    for (const message of mailbox.get(topic) ?? []) push(socket, message);
  };
  const publish = (topic: string, message: string, more: Partial<Message> = {}) => {
    const data = { topic, message, publishedAt: Date.now(), ...more };
    mailbox.set(topic, [...(mailbox.get(topic) ?? []), data]);
    for (const other of listeners.get(topic) ?? []) if (other !== socket) push(other, data);
  };
  const answer = ({ method, params = {} }: Call): unknown => {
    const text = (name: string) => String(params[name]);
    const topics = (params.topics ?? []) as string[];
    const more = { tag: params.tag, attestation: params.attestation };
    switch (method) {
      case 'irn_subscribe':
        listen(text('topic'));
        return text('topic');
      case 'irn_batchSubscribe':
        for (const topic of topics) listen(topic);
        return topics;
      case 'irn_unsubscribe':
        return listeners.get(text('topic'))?.delete(socket) ?? false;
      case 'irn_batchFetchMessages':
        return { messages: topics.flatMap((topic) => mailbox.get(topic) ?? []), hasMore: false };
      case 'irn_publish':
        publish(text('topic'), text('message'), more);
        return true;
      // A client that proposes or approves a session is subscribed from then on.
      case 'wc_proposeSession':
        listen(text('pairingTopic'));
        publish(text('pairingTopic'), text('sessionProposal'), more);
        return true;
      case 'wc_approveSession':
        listen(text('sessionTopic'));
        publish(text('pairingTopic'), text('sessionProposalResponse'), more);
        publish(text('sessionTopic'), text('sessionSettlementRequest'), more);
        return true;
      default:
        throw new Error(`The relay does not know ${method}.`);
    }
  };
  socket.on('message', (data) => {
    const call = JSON.parse(data.toString()) as Call;
    if (!call.method) return; // a receipt for a push
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: answer(call) }));
  });
  socket.on('close', () => {
    for (const all of listeners.values()) all.delete(socket);
  });
}
