import { ensureNetwork } from './ensure-network.ts';
import { refusalFrom, WalletRefusal } from './refusal.ts';
import { formatUsdc } from './texts.ts';
import { type FoundWallet, hexId, isDeclined, requestAccount, type WalletChain } from './wallets.ts';

/**
 * A network and token on which a plan can be charged. `shown`: the terms that the page shows, if they can be signed.
 */
export type PlanPlace = {
  chain: WalletChain & { coin: string };
  token: string;
  symbol: string;
  contract: string;
  shown?: string;
};
/** What a section asks a wallet for. `payer`: the only account that can do it; `call`: the call that revokes. */
export type PlanOrders = { options: PlanPlace[]; payer?: string; call?: string };

/** One press of a wallet's button. */
export type PlanAct = {
  act: string;
  path: string;
  place: PlanPlace;
  orders: PlanOrders;
  wallet: FoundWallet;
  /** The chosen number of charges for the allowance. */
  charges: string;
  tell(text: string, values?: Record<string, string>): void;
  /** The text for an unlimited allowance. */
  limitless: string;
  /** Resolves once somebody agrees to pay a fee. */
  confirm(): Promise<void>;
  /** Called once the wallet has given its account. False if another wallet was chosen meanwhile. */
  connected(): boolean;
};

type Step =
  | { step: 'enough' }
  | {
      step: 'permit';
      value: string;
      limitless: boolean;
      nonce: string;
      deadline: string;
      typed: string;
      approve: string;
    }
  | { step: 'approve'; value: string; limitless: boolean; approve: string };
type Fields = Record<string, string>;

const answerMs = 30_000;
const approvedEveryMs = 2_000;
const approvedTries = 150;

/**
 * Runs an act to its end.
 *
 * @returns the word for `?done=`; null if there is nothing to say
 * @throws what a wallet throws, or WalletRefusal
 */
export async function runAct(act: PlanAct): Promise<string | null> {
  const account = await accountOf(act);
  if (!act.connected()) return null;
  // Common wallets sign typed data only while they are on its network.
  await ensureNetwork(act.wallet, act.place.chain, () => act.tell('switching'));
  if (act.act === 'agree') return agree(act, account);
  return act.act === 'raise' ? raise(act, account) : revoke(act, account);
}

async function accountOf({ wallet, orders }: PlanAct): Promise<string> {
  const account = await requestAccount(wallet).catch((error) => Promise.reject(refusalFrom(error, 'noAccount')));
  if (!account) throw new WalletRefusal('noAccount');
  const { payer } = orders;
  if (payer !== undefined && account !== payer.toLowerCase()) {
    throw new WalletRefusal('otherAccount', { address: `${payer.slice(0, 8)}…${payer.slice(-6)}` });
  }
  return account;
}

async function agree(act: PlanAct, account: string): Promise<string> {
  const { place, charges, tell } = act;
  const { chain, token, shown = '' } = place;
  const fields = { payer: account, chain_id: String(chain.chainId), token, charges, shown };
  const offered = (await send(act, 'offer', fields)) as { offer: string; typed: string };
  tell('signMandate');
  const signature = await sign(act, account, offered.typed);
  tell('checking');
  const signed = { offer: offered.offer, signature };
  const step = (await send(act, 'allowance', signed)) as Step;
  return allow(act, account, step, { name: 'agree', fields: signed, signText: 'signPermit' });
}

async function raise(act: PlanAct, account: string): Promise<string> {
  const wanted = { charges: act.charges };
  const offered = (await send(act, 'raise-offer', wanted)) as { typed: string; until: string };
  act.tell('signRaise');
  const signature = await sign(act, account, offered.typed);
  act.tell('checking');
  const fields = { ...wanted, until: offered.until, signature };
  const step = (await send(act, 'raise-step', fields)) as Step;
  return allow(act, account, step, { name: 'raise', fields, signText: 'signPermit' });
}

type Last = { name: string; fields: Fields; signText: string };

/** Sets the step's allowance, by a signature if the wallet can, and sends everything to the service. */
async function allow(act: PlanAct, account: string, step: Step, last: Last): Promise<string> {
  const { tell } = act;
  if (step.step === 'enough') return finish(act, last.name, last.fields);
  if (step.step === 'permit') {
    tell(last.signText, amountOf(act, step));
    const signature = await sign(act, account, step.typed).catch((error) => {
      if (isDeclined(error) || (error instanceof WalletRefusal && error.text === 'rejected')) throw error;
      return null; // this wallet signs no permits
    });
    const { value, nonce, deadline } = step;
    const permit = { permit_value: value, permit_nonce: nonce, permit_deadline: deadline };
    if (signature !== null) {
      tell('checking');
      const answer = await ask(act, last.name, { ...last.fields, ...permit, permit_signature: signature });
      if ('done' in answer) return String(answer.done);
      if (answer.fault !== 'permit_refused') throw new WalletRefusal(String(answer.fault));
    }
  }
  tell('approveNeeded', amountOf(act, step));
  await act.confirm();
  return approve(act, account, step, last);
}

const amountOf = ({ limitless }: PlanAct, step: { value: string; limitless: boolean }): Fields => ({
  amount: step.limitless ? limitless : formatUsdc(BigInt(step.value)),
});

/** Sets the allowance by a transaction of the wallet, and waits until the network shows it. */
async function approve(
  act: PlanAct,
  account: string,
  step: { value: string; limitless: boolean; approve: string },
  { name, fields }: Last,
): Promise<string> {
  const { place, tell } = act;
  tell('approving', amountOf(act, step));
  await transact(act, account, place.token, step.approve);
  tell('approved');
  for (let i = 0; i < approvedTries; i++) {
    const answer = await ask(act, name, fields);
    if ('done' in answer) return String(answer.done);
    if (answer.fault !== 'not_approved') throw new WalletRefusal(String(answer.fault));
    await new Promise((resolve) => setTimeout(resolve, approvedEveryMs));
  }
  throw new WalletRefusal('not_approved');
}

async function revoke(act: PlanAct, account: string): Promise<null> {
  act.tell('revoking');
  await transact(act, account, act.place.contract, act.orders.call ?? '0x');
  act.tell('revokeSent');
  return null;
}

async function transact({ wallet, place }: PlanAct, from: string, to: string, data: string): Promise<void> {
  const transaction = { from, to, value: '0x0', data, chainId: hexId(place.chain.chainId) };
  await wallet.provider.request({ method: 'eth_sendTransaction', params: [transaction] }).catch((error) => {
    const refusal = refusalFrom(error, 'failed');
    throw refusal.text === 'failed' ? new WalletRefusal('notSigned', refusal.values) : refusal;
  });
}

async function sign({ wallet }: PlanAct, account: string, typed: string): Promise<string> {
  return String(await wallet.provider.request({ method: 'eth_signTypedData_v4', params: [account, typed] }));
}

async function finish(act: PlanAct, name: string, fields: Fields): Promise<string> {
  return String(((await send(act, name, fields)) as { done: string }).done);
}

/** Sends a form to the service and returns its answer. Throws WalletRefusal for a fault. */
async function send(act: PlanAct, name: string, fields: Fields): Promise<Record<string, unknown>> {
  const answer = await ask(act, name, fields);
  if (typeof answer.fault === 'string') throw new WalletRefusal(answer.fault);
  return answer;
}

async function ask({ path }: PlanAct, name: string, fields: Fields): Promise<Record<string, unknown>> {
  try {
    const body = new URLSearchParams(fields);
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(`${path}/${name}`, { method: 'POST', body, signal });
    return (await answer.json()) as Record<string, unknown>;
  } catch {
    throw new WalletRefusal('offline');
  }
}
