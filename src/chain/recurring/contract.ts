import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeAbiParameters, getCreate2Address, keccak256, parseAbi, stringToHex } from 'viem';
import type { ChainConfig } from '../../config/chains.ts';
import type { Hex } from '../rpc.ts';

/** `contracts/RecurringPayments.sol`: the contract that collects a plan's charges, as its customer agreed. */
export const recurringAbi = parseAbi([
  'struct Mandate { address payer; address payee; address token; address executor; uint256 maxAmount; uint64 minInterval; uint64 start; uint64 end; bytes32 plan; bytes32 salt; }',
  'struct Permit { uint256 value; uint256 deadline; bytes signature; }',
  'function charge(Mandate mandate, bytes signature, uint256 amount, bytes32 paymentReference)',
  'function chargeWithPermit(Mandate mandate, bytes signature, uint256 amount, bytes32 paymentReference, Permit permit)',
  'function revoke(Mandate mandate)',
  'function revokeBySignature(Mandate mandate, bytes signature)',
  'function hashOf(Mandate mandate) view returns (bytes32)',
  'function statusOf(bytes32 mandateHash) view returns (uint64 lastChargedAt, bool revoked)',
  'function isUsed(bytes32 mandateHash, bytes32 paymentReference) view returns (bool)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'event Charged(bytes32 indexed mandateHash, bytes32 indexed paymentReference, address indexed payee, address payer, address token, uint256 amount)',
  'event Revoked(bytes32 indexed mandateHash)',
  'event EIP712DomainChanged()',
  'error NotExecutor(address executor)',
  'error NotParty(address caller)',
  'error InvalidSignature(address payer)',
  'error MandateRevoked(bytes32 mandateHash)',
  'error NotStarted(uint256 start)',
  'error Ended(uint256 end)',
  'error TooSoon(uint256 allowedAt)',
  'error AmountOutOfRange(uint256 amount, uint256 maxAmount)',
  'error ReferenceUsed(bytes32 paymentReference)',
  'error SafeERC20FailedOperation(address token)',
  'error ReentrancyGuardReentrantCall()',
  'error InvalidShortString()',
  'error StringTooLong(string str)',
]);

/** The contract's EIP-712 domain, which its constructor fixes. */
export const recurringDomain = { name: 'Quittance Recurring Payments', version: '1' } as const;

/** Deploys what it is sent, by CREATE2: the same code has the same address on every chain. Most chains have it. */
export const deterministicDeployer: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
const deploymentSalt: Hex = `0x${'00'.repeat(32)}`;

type Artifact = { bytecode: Hex; deployedBytecode: Hex; immutables: Record<string, number[]> };

let loaded: Artifact | null = null;

function artifact(): Artifact {
  const file = join(import.meta.dirname, '../../../contracts/RecurringPayments.json');
  loaded ??= JSON.parse(readFileSync(file, 'utf8')) as Artifact;
  return loaded;
}

let derived: Hex | null = null;

/** The contract's address on every chain where the deterministic deployer deployed it. In lower case. */
export function recurringAddress(): Hex {
  const options = { from: deterministicDeployer, salt: deploymentSalt, bytecode: artifact().bytecode };
  derived ??= getCreate2Address(options).toLowerCase() as Hex;
  return derived;
}

/**
 * The contract whose charges pay requests on a chain. While RECURRING_CONTRACT is not set, no charges are made, but
 * those that were sent before are still mined.
 */
export const contractToRead = ({ recurringContract }: Pick<ChainConfig, 'recurringContract'>): Hex =>
  recurringContract ?? recurringAddress();

/** The calldata with which the deterministic deployer deploys the contract. */
export function deploymentCall(): Hex {
  return `${deploymentSalt}${artifact().bytecode.slice(2)}`;
}

/** The exact code at an address of a chain once the contract is deployed there. */
export function recurringCode(chainId: number, address: Hex): Hex {
  const { deployedBytecode, immutables } = artifact();
  let code = deployedBytecode.slice(2);
  for (const [name, value] of Object.entries(constants(chainId, address))) {
    for (const start of immutables[name] ?? []) {
      code = code.slice(0, 2 * start) + value.slice(2) + code.slice(2 * start + 64);
    }
  }
  return `0x${code}`;
}

/** What the constructor of OpenZeppelin's EIP712 stores in the code, by the names of its variables. */
function constants(chainId: number, address: Hex): Record<string, Hex> {
  const { name, version } = recurringDomain;
  const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
  /** A short string in a word: its bytes, and its length in the last byte. */
  const short = (text: string): Hex =>
    `0x${stringToHex(text).slice(2).padEnd(62, '0')}${text.length.toString(16).padStart(2, '0')}`;
  const domainType = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)';
  const hashes = [domainType, name, version].map((text) => keccak256(stringToHex(text))) as [Hex, Hex, Hex];
  const types = [
    { type: 'bytes32' },
    { type: 'bytes32' },
    { type: 'bytes32' },
    { type: 'uint256' },
    { type: 'address' },
  ] as const;
  const separator = keccak256(encodeAbiParameters(types, [...hashes, BigInt(chainId), address]));
  return {
    _cachedDomainSeparator: separator,
    _cachedChainId: word(BigInt(chainId)),
    _cachedThis: word(BigInt(address)),
    _hashedName: hashes[1],
    _hashedVersion: hashes[2],
    _name: short(name),
    _version: short(version),
  };
}
