import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Mode } from '../lib/mode.ts';
import { readMerchant } from '../merchants/read.ts';
import type { Demo } from './demo.ts';

/** The text that the sandbox prints once everything runs: addresses, keys, and a call to paste. */
export async function welcome(ctx: Context, demo: Demo): Promise<string> {
  const { baseUrl, dataDir } = ctx.config;
  const lines = [
    '',
    `  Quittance is ready at ${baseUrl}`,
    '',
    `    Demo pages       ${baseUrl}  (opens each page signed in)`,
    `    API reference    ${baseUrl}/docs`,
    `    OpenAPI          ${baseUrl}/openapi.json`,
    `    Health           ${baseUrl}/readyz`,
  ];
  const chain = (mode: Mode) => {
    const [first] = ctx.chains[mode];
    return `${first?.chainId} at ${first?.rpcUrls[0]} (sandbox, no real money)`;
  };
  lines.push(
    `    E-mails          ${baseUrl}/dev/mail`,
    `    Data             ${dataDir}`,
    `    Test chain       ${chain('test')}`,
    `    Live chain       ${chain('live')}`,
    '',
    `  Demo partner       ${demo.partner}`,
    `    Test key         ${demo.test_key}`,
    `    Live key         ${demo.live_key}`,
    `    Merchant, ready  ${demo.merchant}`,
    await secondMerchant(ctx, demo),
    '',
    '  Request €12.50:',
    '',
    `    curl -s ${baseUrl}/api/v1/requests/create \\`,
    `      -H 'Authorization: Bearer ${demo.test_key}' \\`,
    `      -H 'Content-Type: application/json' \\`,
    `      -d '{"account_id":"${demo.merchant}","fiat_amount_int":1250,"memo":"Two loaves"}'`,
    '',
    '  Then pay it and watch the event arrive:',
    '',
    `    bin/quittance listen --partner ${demo.partner} --mode test`,
    '    bin/quittance sandbox pay <request_id>',
    '',
    '  Ctrl-C stops everything and keeps all data.',
    '',
  );
  return `${lines.join('\n')}\n`;
}

/** The line about the second merchant. It says how to finish onboarding until that is done. */
async function secondMerchant(ctx: Context, { incomplete_merchant: id }: Demo): Promise<string> {
  const scope = await scopeOfMerchant(ctx.db, id);
  const merchant = scope && (await readMerchant(ctx, scope, id));
  return merchant?.onboarded_at
    ? `    Merchant, ready  ${id}`
    : `    Merchant, new    ${id}  (to finish onboarding: bin/quittance sandbox onboard <id>)`;
}
