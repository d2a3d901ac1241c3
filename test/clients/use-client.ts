import { createRequest, getRequest } from './generated-client.ts';

/** What a partner's program does with a generated client: this file must compile, strictly. */
export async function payPageOf(accountId: string): Promise<string> {
  const answer = await createRequest({ account_id: accountId, fiat_amount_int: 1250 });
  if (answer.status === 201 || answer.status === 200) return answer.data.pay_page_url;
  return answer.data.message;
}

/** Whether a request that was not found is told apart from one that was. */
export async function isPaid(requestId: string): Promise<boolean | null> {
  const answer = await getRequest(requestId);
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw new Error(answer.data.error);
  return answer.data.proof_status === 'verified';
}
