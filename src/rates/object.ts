/** Where the audit log puts what is done to a rate: it holds for all partners. */
export const onRate = (code: string) => ({
  partnerId: null,
  testMode: null,
  object: { kind: 'rate' as const, id: code },
});
