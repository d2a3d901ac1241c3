import type { components, operations } from './generated.ts';

type Created = operations['createRequest']['responses']['201']['content']['application/json'];
type Refused = operations['createRequest']['responses']['400']['content']['application/json'];
type Event = components['schemas']['PaymentProofVerified'];

/** What a partner's program does with the generated types: this file must compile, strictly. */
export async function createRequest(
  url: string,
  body: components['schemas']['NewPaymentRequest'],
): Promise<Created | Refused> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return (await response.json()) as Created | Refused;
}

export async function payPageOf(url: string): Promise<string> {
  const answer = await createRequest(url, {
    account_id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
    fiat_amount_int: 1250,
  });
  if (!answer.ok) throw new Error(answer.message);
  const { pay_page_url, amount }: components['schemas']['PaymentRequest'] = answer;
  return `${pay_page_url} ${amount.fiat_code}`;
}

/** What an error says beside its code, as far as it concerns the call that got it. */
export const adviceOf = (refused: Refused): string =>
  refused.details?.map(({ field, message }) => `${field} ${message}`).join('; ') ??
  refused.expected_fiat_code ??
  refused.allowed_expiry_minutes?.map((minutes) => minutes.toFixed(0)).join(', ') ??
  refused.required_scope ??
  refused.request?.proof_status ??
  refused.message;

/** The id of a call that was refused, to report it with. */
export const callIdOf = (headers: operations['createRequest']['responses']['400']['headers']): string =>
  headers['x-request-id'];

export const orderOf = (event: Event): string | undefined => event.metadata.order;

/** The service ignores fields that it does not know, so the compiler must find a misspelt one. */
export const misspelt: components['schemas']['NewPaymentRequest'] = {
  account_id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
  fiat_amount_int: 1250,
  // @ts-expect-error The field is called idempotency_key.
  idempotencyKey: 'b3JkZXItQS0xMDQyLWF0dGVtcHQtMDAwMDAx',
};
