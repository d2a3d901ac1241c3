import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../../../src/chain/rpc.ts';
import { buildServer } from '../../../src/http/server.ts';
import { planPageUrl } from '../../../src/plans/link.ts';
import type { MandateRow } from '../../../src/plans/mandates/read.ts';
import type { PlanRow } from '../../../src/plans/read.ts';
import type { TestWallet } from '../chain/chain.ts';
import { collectFixtures } from './collect-fixtures.ts';

export type AgreeFixtures = Awaited<ReturnType<typeof agreeFixtures>>;
type Fields = Record<string, string>;
/** The service's answer to browser code. */
export type Answer = { status: number } & Record<string, unknown>;

/** Signs the JSON text of `eth_signTypedData_v4`, as a wallet does. */
export function signJson(privateKey: Hex, text: unknown): Promise<Hex> {
  const { domain, types, primaryType, message } = JSON.parse(String(text));
  const { EIP712Domain: _, ...own } = types;
  return privateKeyToAccount(privateKey).signTypedData({ domain, types: own, primaryType, message });
}

/** `collectFixtures` with a server: a customer agrees with the posts of the page, with real signatures. */
export async function agreeFixtures() {
  const fixtures = await collectFixtures();
  const app = await buildServer(fixtures.ctx);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const urlOf = (plan: { id: string }) => origin + new URL(planPageUrl(fixtures.ctx.config, plan.id)).pathname;

  /** Posts to a plan's page as browser code does. */
  async function post(plan: { id: string }, name: string, fields: Fields, url = urlOf(plan)): Promise<Answer> {
    const body = new URLSearchParams(fields);
    const response = await fetch(`${url}/${name}`, { method: 'POST', body, redirect: 'manual' });
    const text = await response.text();
    return { status: response.status, ...(text.startsWith('{') ? JSON.parse(text) : { text }) };
  }

  /** The terms that the page of a plan shows, as its browser code sends them; empty if it shows none. */
  async function shownOn(plan: { id: string }): Promise<string> {
    const html = await (await fetch(urlOf(plan))).text();
    const orders = /data-act="agree" data-orders="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"');
    return orders === undefined ? '' : String(JSON.parse(orders).options[0]?.shown);
  }

  /** What a payer who has read the page is offered. */
  async function offer(plan: { id: string }, payer: string, fields: Fields = {}): Promise<Answer> {
    const { chain, token } = fixtures;
    const shown = fields.shown ?? (await shownOn(plan));
    return post(plan, 'offer', { payer, chain_id: String(chain.chainId), token, charges: '12', ...fields, shown });
  }

  /** What a payer is offered, and the signed agreement. */
  async function sign(plan: { id: string }, payer: TestWallet, charges = '12') {
    const offered = await offer(plan, payer.address, { charges });
    const signature = offered.typed ? await signJson(payer.privateKey, offered.typed) : '0x';
    return { offered, signed: { offer: String(offered.offer ?? ''), signature } };
  }

  /** The fields by which a payer asks for another allowance, signed. */
  async function signRaise(plan: { id: string }, payer: TestWallet, charges: string): Promise<Fields> {
    const offered = await post(plan, 'raise-offer', { charges });
    return { charges, until: String(offered.until), signature: await signJson(payer.privateKey, offered.typed) };
  }

  /** The fields of a permit, signed as the step asks. */
  async function permit(payer: TestWallet, step: Answer): Promise<Fields> {
    return {
      permit_value: String(step.value),
      permit_nonce: String(step.nonce),
      permit_deadline: String(step.deadline),
      permit_signature: await signJson(payer.privateKey, step.typed),
    };
  }

  return {
    ...fixtures,
    origin,
    urlOf,
    post,
    shownOn,
    offer,
    sign,
    signRaise,
    permit,
    /** Opens the page of a plan; its HTML. */
    open: async (plan: { id: string }, query = '') => {
      const response = await fetch(`${urlOf(plan)}${query}`);
      return { status: response.status, html: await response.text() };
    },
    /** Agrees from the first post to the last. */
    agreeByPage: async (plan: PlanRow, payer: TestWallet, charges = '12') => {
      const { signed } = await sign(plan, payer, charges);
      const step = await post(plan, 'allowance', signed);
      const permitted = step.step === 'permit' ? await permit(payer, step) : {};
      const answer = await post(plan, 'agree', { ...signed, ...permitted });
      return { signed, step, permitted, answer };
    },
    mandatesOf: (plan: { id: string }) =>
      fixtures.db.sql<MandateRow[]>`select * from mandates where plan_id = ${plan.id} order by agreed_at, id`,
    stop: async () => {
      await app.close();
      await fixtures.stop();
    },
  };
}
