import { modeOf } from '../lib/mode.ts';

type Of = { partnerId: string; testMode: boolean };

/** The object under which the audit log records actions on a scope's endpoint. */
export const onEndpoint = ({ partnerId, testMode }: Of) => ({
  partnerId,
  testMode,
  object: { kind: 'webhook_endpoint' as const, id: `${partnerId}/${modeOf(testMode)}` },
});
