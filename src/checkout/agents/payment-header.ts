import { compileCheck } from '../../auth/validate.ts';
import { readSignature } from '../../chain/signature.ts';
import { parseStrictJson } from '../../lib/text/strict-json.ts';
import { type Payment, PaymentPayload, x402Version } from './contract.ts';

/**
 * Characters. A payment with all fields that clients send takes about 3 KiB; a contract wallet's signature may double
 * it.
 */
export const maxHeaderLength = 8 * 1024;

/** The content of a header. `what`: a sentence that says why it is not a payment. */
export type ReadHeader =
  | { kind: 'payment'; payment: Payment }
  | { kind: 'fault'; code: 'invalid_payload' | 'invalid_x402_version'; what: string };

const check = compileCheck(PaymentPayload);
const base64Pattern = /^[A-Za-z0-9+/]+={0,2}$/;

/** Decodes `PAYMENT-SIGNATURE`: base64 of JSON. Checks only its shape. */
export function readPaymentHeader(header: string): ReadHeader {
  const fault = (what: string): ReadHeader => ({ kind: 'fault', code: 'invalid_payload', what });
  if (header.length > maxHeaderLength) return fault(`The payment header is longer than ${maxHeaderLength} characters.`);
  if (!base64Pattern.test(header)) return fault('The payment header is not base64.');
  const value = parseStrictJson(Buffer.from(header, 'base64'))?.value;
  if (!value) return fault('The payment header does not contain a JSON object.');
  if (value.x402Version !== x402Version) {
    const what = `Only version ${x402Version} of x402 is supported. Send the payment in the PAYMENT-SIGNATURE header.`;
    return { kind: 'fault', code: 'invalid_x402_version', what };
  }
  const [first] = check(value);
  if (first) return fault(`The payment is malformed: ${first.field || 'it'} ${first.message}.`);
  const payment = value as Payment;
  return readSignature(payment.payload.signature) === null
    ? fault('The payment is malformed: payload.signature must be whole bytes in hexadecimal.')
    : { kind: 'payment', payment };
}
