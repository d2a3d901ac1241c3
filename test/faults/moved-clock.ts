import { readFileSync } from 'node:fs';

/**
 * Loaded before a service (`node --import`): moves its clock as the machine's would be moved. The milliseconds by which
 * it is ahead stand in a file, which is read at the start and at each SIGUSR2. Waits do not jump, as they do not where
 * a machine's clock is set.
 */
const file = process.env.MOVED_CLOCK ?? '';
const machine = Date;
const readAhead = () => Number(readFileSync(file, 'utf8'));
let aheadMs = readAhead();
process.on('SIGUSR2', () => {
  aheadMs = readAhead();
});

const now = () => machine.now() + aheadMs;
globalThis.Date = new Proxy(machine, {
  construct: (target, args, made) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, made === globalThis.Date ? target : made),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
