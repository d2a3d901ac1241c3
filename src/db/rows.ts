import pg from 'pg';
import { keepNewest } from '../lib/keep-newest.ts';
import type { Row } from './sql.ts';

const anyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text');
const digit = (text: string, at: number) => text.charCodeAt(at) - 48;
const twoDigits = (text: string, at: number) => 10 * digit(text, at) + digit(text, at + 1);

/**
 * Parses a time as sessions send it, in UTC: `2026-11-23 06:01:11.123456+00`, with 19 characters, a fraction without
 * trailing zeros, and the zone. This takes a third of the time of `Date`'s parser, and a list has hundreds of times.
 * Other zones, years beyond four digits or before 1000, and `infinity` are left to pg's parser.
 */
function readTime(text: string): unknown {
  const end = text.length - 3;
  if (text[10] !== ' ' || text[0] === '0' || !text.endsWith('+00')) return anyTime(text);
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5) - 1, twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  const at = (place: number) => (place < end ? digit(text, place) : 0);
  return new Date(Date.UTC(year, month, day, hour, minute, second, 100 * at(20) + 10 * at(21) + at(22)));
}

type Parse = (text: string) => unknown;
/** pg's parser for types without their own: returns the text unchanged. */
const asText = pg.types.getTypeParser(25, 'text') as Parse;
const textArray = pg.types.getTypeParser(1009 as never, 'text') as Parse;
/** Types whose parser in pg loses information (digits of numbers, the order of keys, the day of a date) or is slow. */
const parsers = new Map<number, Parse>([
  [pg.types.builtins.TIMESTAMPTZ, readTime],
  [114, asText], // json: JSON.parse would move keys that look like integers to the front
  [1082, (day) => new Date(day)], // date: midnight in UTC, not in the process's time zone
  [1186, asText], // interval
  [1003, textArray], // name[]
  [1016, textArray], // bigint[]
  [1231, textArray], // numeric[]
]);

/** A column of an answer: its name, and its type by PostgreSQL's number. */
export type Field = { name: string; dataTypeID: number };
/** Builds a row from the texts that the server sent. */
export type BuildRow = (texts: readonly (string | null)[]) => Row;

/** Row builders by the names and types of the columns. There are some hundreds, as many as statements. */
const known = new Map<string, BuildRow>();
const maxKnown = 2_000;

/** @returns the builder of rows with these columns; of columns with the same name, the last one counts */
export function rowsOf(fields: readonly Field[]): BuildRow {
  const key = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const made = known.get(key) ?? builderOf(fields);
  if (!known.has(key)) keepNewest(known, key, made, maxKnown);
  return made;
}

/**
 * Generates a function for these columns: V8 then knows the shape of the rows, and builds them in two thirds of the
 * time of a loop. Of outside text, its source contains only the columns' names, as string literals.
 */
function builderOf(fields: readonly Field[]): BuildRow {
  const parse = fields.map(({ dataTypeID }) => parsers.get(dataTypeID) ?? pg.types.getTypeParser(dataTypeID, 'text'));
  const members = fields.map(({ name }, at) => {
    const value = parse[at] === asText ? `texts[${at}]` : `texts[${at}] === null ? null : parse${at}(texts[${at}])`;
    // Without brackets, `__proto__` would set the prototype.
    return `${name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)}: ${value}`;
  });
  const make = new Function(...parse.map((_, at) => `parse${at}`), `return (texts) => ({ ${members.join(', ')} });`);
  return make(...parse) as BuildRow;
}
