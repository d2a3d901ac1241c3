/** The target of an audit log entry about a rate. It has no partner, because a rate applies to all of them. */
export const onRate = (code: string) => ({
  partnerId: null,
  testMode: null,
  object: { kind: 'rate' as const, id: code },
});
