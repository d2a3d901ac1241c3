import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { concat, type Hex, parseSignature, serializeSignature, toHex, zeroAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chargeCall } from '../../src/chain/recurring/calls.ts';
import { recurringDomain } from '../../src/chain/recurring/contract.ts';
import { type Mandate, mandateHash, mandateTypedData } from '../../src/chain/recurring/mandate.ts';
import { waitMined } from '../../src/sandbox/wallet.ts';
import { asDone, kindOf, randomWord, recurringStage, type Stage } from '../support/chain/recurring.ts';
import { randomAddress } from '../support/fixtures.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

async function agreed() {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  return { payer, mandate, signature: await stage.sign(payer, mandate) };
}

const tried = async (mandate: Mandate, signature: Hex) => kindOf(await stage.charge(mandate, signature, 1n));

const altered: { [field in keyof Mandate]: (mandate: Mandate) => Promise<Mandate[field]> } = {
  payer: async () => (await stage.payer()).address.toLowerCase() as Hex,
  payee: async () => randomAddress() as Hex,
  token: async () => stage.deploy('LyingToken'),
  executor: () => stage.executor(),
  maxAmount: async ({ maxAmount }) => maxAmount + 1n,
  minIntervalSeconds: async ({ minIntervalSeconds }) => minIntervalSeconds - 1,
  startsAt: async ({ startsAt }) => startsAt - 1,
  endsAt: async ({ endsAt }) => endsAt + 1,
  plan: async () => randomWord(),
  salt: async () => randomWord(),
};
for (const [field, change] of Object.entries(altered)) {
  test(`a mandate whose ${field} was altered after it was signed → refused; as it was signed → charged`, async () => {
    const { mandate, signature } = await agreed();
    assert.equal(await tried({ ...mandate, [field]: await change(mandate) }, signature), 'signature');
    assert.equal(await tried(mandate, signature), 'done');
  });
}

test('a mandate signed for another chain, another contract or under another name → refused', async () => {
  const { payer, mandate } = await agreed();
  assert.equal(await tried(mandate, await stage.sign(payer, mandate, 1)), 'signature');
  assert.equal(
    await tried(mandate, await stage.sign(payer, mandate, stage.chainId, randomAddress() as Hex)),
    'signature',
  );
  const data = mandateTypedData(mandate, stage.chainId, stage.contract);
  for (const other of [{ name: 'Recurring Payments' }, { version: '2' }]) {
    const signature = await payer.signTypedData({ ...data, domain: { ...data.domain, ...recurringDomain, ...other } });
    assert.equal(await tried(mandate, signature), 'signature');
  }
});

test('a chain that splits in two → a mandate counts on the part that kept the chain id, and on the other not', async () => {
  const { payer, mandate, signature } = await agreed();
  await stage.rpc('anvil_setChainId', 4242);
  try {
    assert.equal(await tried(mandate, signature), 'signature');
    assert.equal(await tried(mandate, await stage.sign(payer, mandate, 4242)), 'done');
  } finally {
    await stage.rpc('anvil_setChainId', stage.chainId);
  }
});

test('the hash that the contract computes is the one that wallets sign', async () => {
  const { mandate } = await agreed();
  const done = asDone(await stage.charge(mandate, await agreedSignature(mandate), 1n));
  assert.equal(done.charged[0]?.mandateHash, mandateHash(mandate, stage.chainId, stage.contract));

  async function agreedSignature(own: Mandate): Promise<Hex> {
    const payer = await stage.payer();
    own.payer = payer.address.toLowerCase() as Hex;
    return stage.sign(payer, own);
  }
});

/** The order of the curve: for each signature (r, s) there is (r, order − s) as well. */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test('another form of the same signature → refused: malleated, compact, with 0 and 1 for 27 and 28, longer, shorter', async () => {
  const { mandate, signature } = await agreed();
  const { r, s, yParity } = parseSignature(signature);
  const other = toHex(order - BigInt(s), { size: 32 });
  const forms: Hex[] = [
    serializeSignature({ r, s: other, yParity: 1 - yParity }),
    serializeSignature({ r, s: other, yParity }),
    concat([r, toHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })]),
    concat([r, s, toHex(yParity)]),
    concat([signature, '0x00']),
    signature.slice(0, -2) as Hex,
    '0x',
  ];
  for (const form of forms) assert.equal(await tried(mandate, form), 'signature', form);
  assert.equal(await tried(mandate, signature), 'done');
});

test('a mandate of the zero address, of a precompile or of the contract itself → refused with any signature', async () => {
  const precompiles = [1, 2, 3, 4, 5, 9].map((number) => toHex(number, { size: 20 }));
  const { signature } = await agreed();
  for (const payer of [zeroAddress, stage.contract, stage.usdc, ...precompiles]) {
    const mandate = await stage.makeMandate(payer);
    for (const form of [signature, `0x${'00'.repeat(65)}`, `0x${'00'.repeat(64)}1b`, '0x'] as Hex[]) {
      assert.equal(await tried(mandate, form), 'signature', payer);
    }
  }
});

test('the signature of the payee, the executor or a stranger → refused', async () => {
  const { mandate } = await agreed();
  const payee = await stage.payer();
  const own = { ...mandate, payee: payee.address.toLowerCase() as Hex };
  assert.equal(await tried(own, await stage.sign(payee, own)), 'signature');
  assert.equal(await tried(mandate, await stage.sign(privateKeyToAccount(randomWord()), mandate)), 'signature');
});

/** As the wallet of the tests takes it: a version, then its owner's signature. */
const wrapped = (signature: Hex) => concat(['0x01', signature]);

async function fundedWallet(name: string, ...args: unknown[]): Promise<Hex> {
  const wallet = await stage.deploy(name, ...args);
  await stage.node.fund(wallet, 1_000_000_000n);
  await stage.approve(wallet, 1_000_000_000n);
  return wallet;
}

test('a contract wallet (ERC-1271) → its owner signs for it in its own form; the owner’s plain signature is refused', async () => {
  const owner = privateKeyToAccount(randomWord());
  const wallet = await fundedWallet('OwnedWallet', owner.address);
  const mandate = await stage.makeMandate(wallet);
  const signature = await stage.sign(owner, mandate);
  assert.equal(await tried(mandate, signature), 'signature');
  assert.equal(
    await tried(mandate, wrapped(await stage.sign(privateKeyToAccount(randomWord()), mandate))),
    'signature',
  );
  assert.equal(await tried(mandate, wrapped(signature)), 'done');
  assert.equal(await stage.balanceOf(mandate.payee), 1n);
});

test('a wallet with EIP-7702 code that refuses plain signatures → the signature of its key is still valid', async () => {
  const { payer, mandate, signature } = await agreed();
  await stage.delegate(payer, await stage.deploy('RefusingDelegate'));
  assert.equal(await tried(mandate, await stage.sign(privateKeyToAccount(randomWord()), mandate)), 'signature');
  assert.equal(await tried(mandate, signature), 'done');
});

test('a wallet with EIP-7702 code that signs in its own form → that form counts beside the key', async () => {
  const payer = await stage.payer();
  const owner = privateKeyToAccount(randomWord());
  await stage.delegate(payer, await stage.deploy('OwnedWallet', owner.address));
  const mandate = await stage.makeMandate(payer.address, { minIntervalSeconds: 0 });
  assert.equal(await tried(mandate, wrapped(await stage.sign(owner, mandate))), 'done');
  assert.equal(await tried(mandate, await stage.sign(payer, mandate)), 'done');
});

const hostile: [what: string, how: Hex, outcome: 'done' | 'signature'][] = [
  ['burns all gas it gets', '0x01', 'signature'],
  ['says yes and a megabyte more', '0x02', 'done'],
  ['reverts with a megabyte', '0x03', 'signature'],
  ['says yes in four bytes instead of a word', '0x04', 'signature'],
  ['writes to its storage', '0x05', 'signature'],
  ['answers with a word of ones', '0x06', 'signature'],
];
for (const [what, how, outcome] of hostile) {
  test(`a contract wallet that ${what} → ${outcome === 'done' ? 'charged' : 'refused'}, at the cost of the limit at most`, async () => {
    const mandate = await stage.makeMandate(await fundedWallet('HostileWallet'));
    assert.equal(await tried(mandate, how), outcome);
    assert.equal(await stage.balanceOf(mandate.payee), outcome === 'done' ? 1n : 0n);
  });
}

test('a wallet that burns all gas in the charge costs the executor its limit, and what was charged before stays', async () => {
  const mandate = await stage.makeMandate(await fundedWallet('HostileWallet'), { minIntervalSeconds: 0 });
  assert.equal(await tried(mandate, '0x00'), 'done');
  const burning = chargeCall({ mandate, signature: '0x01', amount: 1n, reference: randomWord() }, null);
  const call = { from: mandate.executor, to: stage.contract, data: burning, gas: toHex(300_000) };
  const hash = (await stage.rpc('eth_sendTransaction', call)) as Hex;
  assert.equal(await waitMined(stage.node.chain.rpcUrls[0] ?? '', hash), '0x0');
  const { gasUsed } = (await stage.rpc('eth_getTransactionReceipt', hash)) as { gasUsed: Hex };
  assert.ok(Number(gasUsed) <= 300_000);
  assert.equal(await stage.balanceOf(mandate.payee), 1n);
});
