import { withoutReferences } from '../http/api-schemas.ts';

/** The parts of an OpenAPI document that a comparison needs. */
export type OpenApi = { paths: Record<string, Record<string, Operation>> };
type Content = { content?: { 'application/json'?: { schema: Schema } }; headers?: Record<string, Header> };
type Header = { required?: boolean; schema: Schema };
type Operation = {
  parameters?: Array<{ name: string; in: string; required?: boolean; schema: Schema }>;
  requestBody?: Content;
  responses: Record<string, Content>;
};
type Schema = {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};

/**
 * Changes in a new document that would break a client of the old one: things removed, new requirements on requests,
 * weaker guarantees about responses. Additions are fine.
 */
export function breakingChanges(earlier: OpenApi, later: OpenApi): string[] {
  const [before, after] = [withoutReferences(earlier), withoutReferences(later)];
  const found: string[] = [];
  for (const [path, operations] of Object.entries(before.paths)) {
    for (const [method, old] of Object.entries(operations)) {
      const now = after.paths[path]?.[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (!now) found.push(`${name} is gone`);
      else found.push(...compareOperation(old, now).map((line) => `${name}: ${line}`));
    }
  }
  return found;
}

function compareOperation(before: Operation, after: Operation): string[] {
  const found: string[] = [];
  for (const old of before.parameters ?? []) {
    const now = after.parameters?.find((parameter) => parameter.name === old.name && parameter.in === old.in);
    if (!now) found.push(`parameter ${old.name} is gone`);
    else found.push(...compareSent(old.schema, now.schema, `parameter ${old.name}`));
  }
  for (const now of after.parameters ?? []) {
    const old = before.parameters?.find((parameter) => parameter.name === now.name && parameter.in === now.in);
    if (now.required && !old?.required) found.push(`parameter ${now.name} is newly required`);
  }
  found.push(...compareSent(bodyOf(before.requestBody), bodyOf(after.requestBody), 'body'));
  for (const [status, old] of Object.entries(before.responses)) {
    if (/XX$/.test(status)) continue; // a range promises none of its statuses
    const now = after.responses[status];
    if (!now) found.push(`answer ${status} is gone`);
    else found.push(...compareAnswered(partsOf(old), partsOf(now), `answer ${status}`));
  }
  return found;
}

/** The body's fields and, as further ones, the headers. */
function partsOf(content: Content): Schema {
  const { required = [], properties = {}, ...body } = bodyOf(content);
  const headers = Object.entries(content.headers ?? {}).map(([name, header]) => ({
    name: `header ${name}`,
    ...header,
  }));
  return {
    ...body,
    required: [...required, ...headers.filter((header) => header.required).map(({ name }) => name)],
    properties: { ...properties, ...Object.fromEntries(headers.map(({ name, schema }) => [name, schema])) },
  };
}

const bodyOf = (content: Content | undefined): Schema => content?.content?.['application/json']?.schema ?? {};

/** The type of an enumeration without one is that of its values. */
const typeOf = ({ type, enum: values, const: value }: Schema): string | undefined =>
  type ?? (values || value !== undefined ? typeof (values?.[0] ?? value) : undefined);

const sameKind = (before: Schema, after: Schema, at: string): string[] =>
  typeOf(before) === typeOf(after) && (before.anyOf?.length ?? 0) === (after.anyOf?.length ?? 0)
    ? []
    : [`${at} changed its type`];

/** Compares what a client sends: nothing that was accepted before may be refused. */
function compareSent(before: Schema, after: Schema, at: string): string[] {
  const found = sameKind(before, after, at);
  const gone = (before.enum ?? []).filter((value) => after.enum && !after.enum.includes(value));
  if (gone.length > 0 || (!before.enum && after.enum)) found.push(`${at} accepts fewer values`);
  if (before.pattern !== after.pattern) found.push(`${at} changed its pattern`);
  for (const limit of ['maximum', 'maxLength', 'maxProperties'] as const) {
    if ((after[limit] ?? Infinity) < (before[limit] ?? Infinity)) found.push(`${at} has a tighter ${limit}`);
  }
  if ((after.minimum ?? -Infinity) > (before.minimum ?? -Infinity)) found.push(`${at} has a tighter minimum`);
  for (const name of after.required ?? []) {
    if (!before.required?.includes(name)) found.push(`${at}.${name} is newly required`);
  }
  for (const [name, old] of Object.entries(before.properties ?? {})) {
    const now = after.properties?.[name];
    if (!now) found.push(`${at}.${name} is gone`);
    else found.push(...compareSent(old, now, `${at}.${name}`));
  }
  return found;
}

/** Compares what a client reads: everything that was promised before must still be there, with the same type. */
function compareAnswered(before: Schema, after: Schema, at: string): string[] {
  const found = sameKind(before, after, at);
  const added = (after.enum ?? []).filter((value) => before.enum && !before.enum.includes(value));
  if (added.length > 0) found.push(`${at} may hold new values: ${added.join(', ')}`);
  for (const name of before.required ?? []) {
    if (!after.required?.includes(name)) found.push(`${at}.${name} may be missing`);
  }
  for (const [name, old] of Object.entries(before.properties ?? {})) {
    const now = after.properties?.[name];
    if (!now) found.push(`${at}.${name} is gone`);
    else found.push(...compareAnswered(old, now, `${at}.${name}`));
  }
  if (before.items && after.items) found.push(...compareAnswered(before.items, after.items, `${at}[]`));
  return found;
}
