import type { ErrorCode } from '../errors.ts';
import { ErrorBody } from '../lib/contract.ts';
import { errorResponses } from './api-errors.ts';
import { headersOf } from './api-headers.ts';

type Json = Record<string, unknown>;
type Response = { description: string; headers?: Json; content: { 'application/json': { example?: unknown } } };
type Operation = Json & { 'x-errors'?: ErrorCode[]; operationId: string; responses: Record<string, Response> };
/** The parts of an OpenAPI document that are changed here. */
export type ApiDocument = { paths: Record<string, Record<string, Operation>>; components: { schemas?: Json } };

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/**
 * Completes a generated document: each titled schema becomes a component that is referenced by its title, and each
 * operation lists every error that it can return.
 *
 * @throws Error when two different schemas have one title
 */
export function completeDocument<T extends object>(generated: T): T {
  const document = structuredClone(generated) as T & ApiDocument;
  const found: Json = {};
  const held = document.paths['/api/v1/requests/{request_id}']?.get?.responses['200']?.content['application/json'];
  const named = withReferences(document, found) as T & ApiDocument;
  withReferences(ErrorBody, found);
  // The shape of errors is defined in `lib`, which cannot refer to the shape of a request.
  const fields = (found.Error as { properties?: Json } | undefined)?.properties;
  if (fields)
    fields.request = {
      $ref: '#/components/schemas/PaymentRequest',
      description: 'With cannot_cancel: the request as it is.',
    };
  named.components.schemas = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
  for (const operations of Object.values(named.paths))
    for (const operation of Object.values(operations)) describe(operation, (held?.example ?? {}) as object);
  return named;
}

/** Rules are worded to end an error's sentence, as `must be a UUID`. The document says what a value is: `A UUID.` */
function asDescription(text: string): string {
  const [, article, rest] = /^must be (an?) (.+)$/s.exec(text) ?? [];
  return article === undefined ? text : `${article === 'a' ? 'A' : 'An'} ${rest}.`;
}

const joined = (purpose: string, description: unknown): string =>
  typeof description === 'string' ? `${purpose} ${description}` : purpose;

/** Replaces titled schemas by references, the inner ones first, and collects them in `found`. */
function withReferences(value: unknown, found: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, found));
  if (!isObject(value)) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'description' && typeof part === 'string' ? asDescription(part) : withReferences(part, found),
    ]),
  );
  const { title, type, purpose, description, schema: own } = copy;
  if (typeof purpose === 'string') {
    copy.description = joined(purpose, description);
    delete copy.purpose;
  }
  // The generator moves the description of a parameter's shape to the parameter, and leaves its purpose.
  if ('in' in copy && isObject(own) && typeof own.description === 'string') {
    copy.description = joined(own.description, description);
    delete own.description;
  }
  if (typeof title !== 'string' || typeof type !== 'string') return copy;
  // The generator also puts a body's examples beside its schema, so the component does not need them.
  const { examples: _, ...schema } = copy;
  if (title in found && JSON.stringify(found[title]) !== JSON.stringify(schema))
    throw new Error(`Two schemas of the API have the title ${title}.`);
  found[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
}

const done: Record<string, string> = { '200': 'Done.', '201': 'Created.' };

function describe(operation: Operation, held: object): void {
  const own = operation['x-errors'] ?? [];
  delete operation['x-errors'];
  for (const [status, response] of Object.entries(operation.responses)) {
    const isReplay = status === '200' && '201' in operation.responses;
    response.description = isReplay ? 'Already created by an earlier call.' : (done[status] ?? '');
  }
  Object.assign(operation.responses, errorResponses(own, held));
  for (const [status, response] of Object.entries(operation.responses)) response.headers = headersOf(status);
}

/** The same document with every reference replaced by what it names, for programs that do not resolve references. */
export function withoutReferences<T>(document: T): T {
  const components = (document as { components?: Record<string, Json> }).components ?? {};
  const writeOut = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(writeOut);
    if (!isObject(value)) return value;
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(String(value.$ref)) ?? [];
    if (kind !== '') return writeOut(components[kind]?.[name]);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, writeOut(part)]));
  };
  return writeOut(document) as T;
}
