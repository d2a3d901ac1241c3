import pg from 'pg';
import { keepNewest } from '../lib/keep-newest.ts';
import type { Row } from './sql.ts';

const anyTime = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ, 'text');
const digit = (text: string, at: number) => text.charCodeAt(at) - 48;
const twoDigits = (text: string, at: number) => 10 * digit(text, at) + digit(text, at + 1);

/**
 * Sessions tell times in UTC, `2026-11-23 06:01:11.123456+00`: 19 characters, a fraction without zeros at its end, the
 * zone. Taken digit by digit this costs a third of what a `Date` makes of the text, and a list has hundreds. Other
 * zones, years beyond four digits or before 1000, and `infinity` are left to pg.
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
/** pg's own for types without another: the text as it is. */
const asText = pg.types.getTypeParser(25, 'text') as Parse;
const textArray = pg.types.getTypeParser(1009 as never, 'text') as Parse;
/** Types where the driver would lose something (digits of numbers, the order of keys, the day of a date) or be slow. */
const parsers = new Map<number, Parse>([
  [pg.types.builtins.TIMESTAMPTZ, readTime],
  [114, asText], // json: JSON.parse would move keys that look like integers to the front
  [1082, (day) => new Date(day)], // midnight of UTC, not of where the process runs
  [1186, asText], // interval
  [1003, textArray], // name[]
  [1016, textArray], // bigint[]
  [1231, textArray], // numeric[]
]);

/** A column of an answer: its name, and its type by PostgreSQL's number. */
export type Field = { name: string; dataTypeID: number };
/** Makes a row of the texts that the server sent for it. */
export type BuildRow = (texts: readonly (string | null)[]) => Row;

/** By the names and types of the columns. There are as many as statements, which are some hundreds. */
const known = new Map<string, BuildRow>();
const mostKnown = 2_000;

/** @returns what makes rows of these columns; of columns with the same name the last one counts */
export function rowsOf(fields: readonly Field[]): BuildRow {
  const key = JSON.stringify(fields.map(({ name, dataTypeID }) => [name, dataTypeID]));
  const made = known.get(key) ?? builderOf(fields);
  if (!known.has(key)) keepNewest(known, key, made, mostKnown);
  return made;
}

/**
 * A function of its own for these columns: V8 then knows the shape of each row, and makes it in two thirds of the time
 * that a loop takes. Nothing but names enters the text, as string literals.
 */
function builderOf(fields: readonly Field[]): BuildRow {
  const parse = fields.map(({ dataTypeID }) => parsers.get(dataTypeID) ?? pg.types.getTypeParser(dataTypeID, 'text'));
  const members = fields.map(({ name }, at) => {
    const value = parse[at] === asText ? `texts[${at}]` : `texts[${at}] === null ? null : parse${at}(texts[${at}])`;
    // In brackets `__proto__` is a name like any other.
    return `${name === '__proto__' ? '["__proto__"]' : JSON.stringify(name)}: ${value}`;
  });
  const make = new Function(...parse.map((_, at) => `parse${at}`), `return (texts) => ({ ${members.join(', ')} });`);
  return make(...parse) as BuildRow;
}
