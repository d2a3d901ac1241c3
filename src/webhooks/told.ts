import { modeOf } from '../lib/mode.ts';

type Of = { partnerId: string; testMode: boolean };

/** Where the audit log puts what is done to the endpoint of a scope. */
export const onEndpoint = ({ partnerId, testMode }: Of) => ({
  partnerId,
  testMode,
  object: { kind: 'webhook_endpoint' as const, id: `${partnerId}/${modeOf(testMode)}` },
});
