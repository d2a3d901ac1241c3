/** Takes back receipts that wait for customers whose data is erased. */
export { updateDropped as dropReceipts } from './store.ts';
