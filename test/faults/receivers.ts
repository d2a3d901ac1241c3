import { type Behaviour, behaviours } from '../support/net/receiver.ts';
import type { FaultKind } from './steps.ts';

type Wrong = Extract<FaultKind, `receiver-${string}`>;

/** Longer than a delivery waits for an answer. */
const lateMs = 9_000;
const dripMs = 500;

/** A response that comes byte by byte. */
const drip: Behaviour = (response) => {
  const { socket } = response;
  const bytes = [...'HTTP/1.1 200 OK\r\nx-slow: yes\r\n'];
  const timer = setInterval(() => {
    const next = bytes.shift();
    if (next === undefined || !socket || socket.destroyed) return clearInterval(timer);
    socket.write(next);
  }, dripMs);
  response.on('close', () => clearInterval(timer));
};

const late: Behaviour = (response) => {
  const timer = setTimeout(() => response.writeHead(200).end(), lateMs);
  response.on('close', () => clearTimeout(timer));
};

/** How receivers go wrong, by the fault's name. */
export const wrongReceivers: Record<Wrong, Behaviour> = {
  'receiver-hang': behaviours.hang,
  'receiver-drip': drip,
  'receiver-reset': behaviours.reset,
  'receiver-redirect': behaviours.status(302, { location: 'http://127.0.0.1:9/elsewhere' }),
  'receiver-late': late,
  'receiver-fault': behaviours.status(500),
  'receiver-endless': behaviours.endlessBody,
};
