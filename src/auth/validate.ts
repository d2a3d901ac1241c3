import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TObject } from 'typebox';
import type { FieldFault } from '../errors.ts';

/**
 * Longer texts fail every pattern without being matched. The validator tries patterns even on texts that exceed their
 * field's maximum length, and some patterns take quadratic time.
 */
const maxPatternLength = 1_000;

const boundedRegExp = (pattern: string, flags: string) => {
  const expression = new RegExp(pattern, flags);
  return {
    test: (text: string) => text.length <= maxPatternLength && expression.test(text),
    // The library distinguishes patterns by this text.
    toString: () => String(expression),
  };
};
boundedRegExp.code = 'boundedRegExp';

// No coercion: "5" is not a number. String lengths count Unicode code points. All faults are reported at once.
// Formats are for generated clients: patterns and rules decide.
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  validateFormats: false,
  code: { regExp: boundedRegExp },
});

/** Lists how a value violates its contract; empty when it is valid. */
export type Check = (value: Record<string, unknown>) => FieldFault[];

/** Compiles a contract. A field that fails its pattern is reported with the field's description. */
export function compileCheck(contract: TObject): Check {
  const validate: ValidateFunction = ajv.compile(contract);
  return (value) => (validate(value) ? [] : toFaults(validate.errors ?? []));
}

/** Compiles a contract of query parameters. One that is given more than once is reported as that. */
export function compileQueryCheck(contract: TObject): Check {
  const check = compileCheck(contract);
  return (query) =>
    check(query).map((fault) =>
      Array.isArray(query[fault.field]) ? { ...fault, message: 'must be given only once' } : fault,
    );
}

function toFaults(errors: ErrorObject[]): FieldFault[] {
  const faults = new Map<string, FieldFault>();
  for (const error of errors) {
    const fault = toFault(error);
    // Which words are allowed says more than that one of them must be a string.
    if (!faults.has(fault.field) || error.keyword === 'enum') faults.set(fault.field, fault);
  }
  return [...faults.values()];
}

function toFault({
  instancePath,
  propertyName,
  keyword,
  params,
  message: ajvMessage,
  parentSchema,
}: ErrorObject): FieldFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (keyword === 'required') return { field: [...path, params.missingProperty].join('.'), message: 'is required' };
  if (keyword === 'enum')
    return { field: path.join('.'), message: `must be one of ${params.allowedValues.join(', ')}` };
  if (keyword === 'pattern' && parentSchema?.description)
    return { field: path.join('.'), message: parentSchema.description };
  const fault = inWords[keyword]?.(params) ?? ajvMessage ?? 'is invalid';
  const message = propertyName === undefined ? fault : `has the key “${startOf(propertyName)}”, but each ${fault}`;
  return { field: path.join('.'), message };
}

/** How many characters of a key a message quotes: a key may be as long as the body. */
const maxQuoted = 48;

const startOf = (key: string): string => (key.length > maxQuoted ? `${key.slice(0, maxQuoted).toWellFormed()}…` : key);

const namedTypes: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
};

/** What the validator says in symbols or capitals, in words. */
const inWords: Record<string, (params: ErrorObject['params']) => string> = {
  type: ({ type }) => `must be ${namedTypes[type] ?? type}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  maxLength: ({ limit }) => `must be at most ${limit} characters long`,
  minLength: ({ limit }) => `must be at least ${limit} characters long`,
  maxProperties: ({ limit }) => `must have at most ${limit} keys`,
};

/**
 * Converts query parameters to the contract's types. A value that cannot be converted stays text, and the check then
 * refuses it.
 */
export function coerceQuery(contract: TObject, query: Record<string, unknown>): Record<string, unknown> {
  const known = Object.entries(contract.properties as Record<string, { type?: string }>);
  const values = known
    .filter(([name]) => query[name] !== undefined)
    .map(([name, { type }]) => {
      const text = query[name];
      if (typeof text !== 'string') return [name, text];
      if (type === 'integer' && /^(\d{1,15}|-[1-9]\d{0,14})$/.test(text)) return [name, Number(text)];
      if (type === 'boolean' && (text === 'true' || text === 'false')) return [name, text === 'true'];
      return [name, text];
    });
  return Object.fromEntries(values);
}
