import { getTypesForEIP712Domain, serializeTypedData, type TypedDataDomain, type TypedDataParameter } from 'viem';

/** EIP-712 data, without the type of its domain. */
export type WalletData = {
  domain: TypedDataDomain;
  types: Record<string, readonly TypedDataParameter[]>;
  primaryType: string;
  message: Record<string, unknown>;
};

/**
 * EIP-712 data in the form that wallets accept: the JSON text of `eth_signTypedData_v4`, including the domain's type.
 */
export function walletJson({ domain, types, primaryType, message }: WalletData): string {
  const all: Record<string, unknown> = { EIP712Domain: getTypesForEIP712Domain({ domain }), ...types };
  return serializeTypedData({ domain, types: all, primaryType, message });
}
