import { outsideTrails } from './trail.ts';

/** The most lines of one kind that are written in a period: about 10 MB an hour. */
const maxLines = 50;
const periodMs = 10_000;
/** The most kinds that are counted separately; further kinds share one count. */
const maxKinds = 500;

type Kind = { lines: number; leftOut: number };

/**
 * Limits the lines of each kind, so that one repeated failure, such as calls while the database is down, does not fill
 * a disk.
 *
 * @param tell called once at the end of a period in which lines were left out, with how many
 * @returns whether a line is to be written
 */
export function limitFloods(tell: (kind: string, leftOut: number) => void): (kind: string) => boolean {
  const kinds = new Map<string, Kind>();
  const end = (name: string, { leftOut }: Kind) => {
    kinds.delete(name);
    if (leftOut > 0) tell(name, leftOut);
  };
  return (given) => {
    const name = kinds.has(given) || kinds.size < maxKinds ? given : 'several';
    let kind = kinds.get(name);
    if (!kind) {
      const begun = { lines: 0, leftOut: 0 };
      kind = begun;
      kinds.set(name, begun);
      outsideTrails(() => setTimeout(() => end(name, begun), periodMs).unref());
    }
    const isWritten = kind.lines < maxLines;
    if (isWritten) kind.lines++;
    else kind.leftOut++;
    return isWritten;
  };
}

/**
 * The kind of a line: its message, and of an error its name, code and place. What differs from line to line, such as an
 * id in the error's message, does not count.
 */
export function kindOf(args: readonly unknown[]): string {
  const [fields, message] = args;
  if (typeof fields !== 'object' || fields === null) return String(fields);
  const { err, route } = fields as { err?: unknown; route?: unknown };
  const error = err instanceof Error ? (err as NodeJS.ErrnoException) : null;
  const place = error?.stack?.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return [message, route, error?.name, error?.code, place.trim()].filter(Boolean).join(' ');
}
