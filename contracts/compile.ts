import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import solc from 'solc';

/**
 * Compiles the contract and writes its artifact, or with `--check` refuses one that is out of date. The compiler and
 * the libraries are pinned in the lock file, so everybody gets the same bytes, and with them the same address.
 */
const folder = import.meta.dirname;
const name = 'RecurringPayments';
const artifactFile = join(folder, `${name}.json`);

/**
 * Cancun is the newest version that Ethereum and the larger rollups all run; OpenZeppelin's libraries need its MCOPY,
 * and the guard against reentrancy its transient storage. Without metadata a comment does not move the address.
 */
const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
};

type Place = { start: number; length: number };
type Compiled = {
  abi: object[];
  evm: {
    bytecode: { object: string };
    deployedBytecode: { object: string; immutableReferences: Record<string, Place[]> };
  };
};
type Node = { id?: number; name?: string; nodeType?: string; [field: string]: unknown };
type Output = {
  errors?: { severity: string; errorCode: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, Compiled>>;
  sources: Record<string, { ast: Node }>;
};

/** What the compiler always says of transient storage, which OpenZeppelin's guard clears at the end of a call. */
const knownWarning = '2394';

/**
 * Compiles Solidity sources by their paths. Imports are found in `node_modules`.
 *
 * @throws Error with what the compiler says, warnings included
 */
export function compile(sources: Record<string, string>): Output {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([path, content]) => [path, { content }])),
    settings: {
      ...settings,
      outputSelection: {
        '*': {
          '*': [
            'abi',
            'evm.bytecode.object',
            'evm.deployedBytecode.object',
            'evm.deployedBytecode.immutableReferences',
          ],
          '': ['ast'],
        },
      },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readImport })) as Output;
  const faults = (output.errors ?? []).filter(({ errorCode }) => errorCode !== knownWarning);
  if (faults.length > 0) throw new Error(faults.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return output;
}

function readImport(path: string): { contents: string } | { error: string } {
  const file = join(folder, '../node_modules', path);
  return existsSync(file) ? { contents: readFileSync(file, 'utf8') } : { error: `${path} is not installed` };
}

/** The artifact's text: the code that deploys the contract, the code that then stands, and where its constants are. */
export function compileArtifact(): string {
  const path = `contracts/${name}.sol`;
  const output = compile({ [path]: readFileSync(join(folder, `${name}.sol`), 'utf8') });
  const compiled = output.contracts[path]?.[name];
  if (!compiled) throw new Error(`${path} has no contract ${name}.`);
  const { abi, evm } = compiled;
  const names = namesOf(Object.values(output.sources).map(({ ast }) => ast));
  const immutables = Object.entries(evm.deployedBytecode.immutableReferences).map(([id, places]) => [
    names.get(Number(id)),
    places.map(({ start }) => start),
  ]);
  const artifact = {
    compiler: solc.version(),
    settings,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    /** The offsets in `deployedBytecode` of the words that the constructor fills in, by the variable's name. */
    immutables: Object.fromEntries(immutables),
  };
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

/** The names of all variables by the compiler's numbers for them. */
function namesOf(trees: unknown): Map<number, string> {
  const names = new Map<number, string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { id, name, nodeType } = value as Node;
    if (nodeType === 'VariableDeclaration' && id !== undefined && name) names.set(id, name);
    for (const part of Object.values(value)) walk(part);
  };
  walk(trees);
  return names;
}

if (import.meta.main) {
  const text = compileArtifact();
  if (!process.argv.includes('--check')) writeFileSync(artifactFile, text);
  else if (readFileSync(artifactFile, 'utf8') !== text) {
    console.error(`${artifactFile} is not what its source compiles to: run npm run contracts.`);
    process.exitCode = 1;
  }
}
