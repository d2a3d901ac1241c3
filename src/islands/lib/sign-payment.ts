import type { PayOption } from './order.ts';
import { refusalFrom, WalletRefusal } from './refusal.ts';
import type { FoundWallet } from './wallets.ts';

/** What a wallet signs to pay without coin for the fee. The server makes it, and then sends the payment. */
export type Signable = {
  /** JSON of `eth_signTypedData_v4`. */
  typed: string;
  nonce: string;
  validBefore: string;
  /** Whether the wallet has no coin for fees; null if that is not known. */
  lacksCoin: boolean | null;
};

type Answer = { ok?: boolean; reason?: string; typed?: string; nonce?: string; valid_before?: string } & {
  lacks_coin?: boolean | null;
};

const answerMs = 20_000;
/** The server does not send the same authorization twice, so a call without a response is repeated. */
const handInAfterMs = [0, 2_000, 5_000];

/** Posts fields and returns the answer; null if there is none. */
async function post(url: string, fields: Record<string, string>): Promise<Answer | null> {
  try {
    const body = new URLSearchParams(fields);
    const answer = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(answerMs) });
    return (await answer.json()) as Answer;
  } catch {
    return null;
  }
}

const terms = ({ chain, token }: PayOption, from: string) => ({ chain_id: String(chain.chainId), token, from });

/**
 * Requests what the account must sign.
 *
 * @throws WalletRefusal why it cannot pay by a signature now
 */
export async function fetchSignable(path: string, option: PayOption, account: string): Promise<Signable> {
  const answer = await post(`${path}/authorization`, terms(option, account));
  if (!answer) throw new WalletRefusal('notReached');
  const { ok, reason, typed = '', nonce = '', valid_before: validBefore = '', lacks_coin: lacksCoin = null } = answer;
  if (!ok) throw new WalletRefusal(reason ?? 'notOffered');
  return { typed, nonce, validBefore, lacksCoin };
}

/** Has a wallet sign the payment. */
export async function signPayment({ provider }: FoundWallet, account: string, { typed }: Signable): Promise<string> {
  return provider
    .request({ method: 'eth_signTypedData_v4', params: [account, typed] })
    .then(String, (error) => Promise.reject(refusalFrom(error, 'paymentNotSigned')));
}

/**
 * Submits a signed payment, which the server then sends.
 *
 * @throws WalletRefusal with the reason why nothing was sent, or `unsure` if that is not known
 */
export async function handIn(
  path: string,
  option: PayOption,
  account: string,
  { nonce, validBefore }: Signable,
  signature: string,
): Promise<void> {
  for (const afterMs of handInAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const fields = { ...terms(option, account), nonce, valid_before: validBefore, signature };
    const answer = await post(`${path}/authorized`, fields);
    if (answer?.ok) return;
    if (answer) throw new WalletRefusal(answer.reason ?? 'notOffered');
  }
  throw new WalletRefusal('unsure');
}
