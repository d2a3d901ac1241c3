import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { kindOf, limitFloods } from './log-floods.ts';
import { printable } from './text/printable.ts';
import { outsideTrails, trailFields } from './trail.ts';

/**
 * The database's message about a row that it refused contains the row itself: addresses, links, codes. The error of a
 * request that cannot be read contains what was sent: keys, cookies, links.
 */
const redacted = ['req.headers.authorization', 'err.detail', 'err.where', 'err.rawPacket'];

/** How many characters wait for an output that takes none, such as a file on a full disk. Further lines are dropped. */
const maxWaiting = 1_000_000;

const ignore = () => {};

/** How long to wait for a reader that takes nothing, such as a paused collector of logs. */
const readerWaitMs = 200;

/**
 * A stream to standard output that may fail at any time without harm. pino alone would hang the process for ever on a
 * full disk, and on a full pipe for as long as nobody reads it. Lines that wait are written with the next line that
 * finds room; to a pipe, soon after it has room again.
 */
function standardOutput(): DestinationStream {
  // Opening the stream makes writes to a pipe return at once. Its reader may go away, as in `npm start | head`.
  if (!process.stdout.listeners('error').includes(ignore)) process.stdout.on('error', ignore);
  const output = pino.destination({ dest: 1, sync: true, maxLength: maxWaiting, retryEAGAIN: () => false });
  let timer: NodeJS.Timeout | undefined;
  const waitForReader = ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EAGAIN') return;
    clearTimeout(timer);
    outsideTrails(() => {
      timer = setTimeout(() => output.write(''), readerWaitMs).unref(); // writes what waits, or fails again
    });
  };
  return output.on('error', waitForReader);
}

/**
 * pino's number for `warn`. Less urgent lines are not limited in number: their level decides whether they are written.
 */
const warnLevel = 40;

/**
 * The service's log. Each line has the fields of the trail that it belongs to. Of warnings and errors of one kind, only
 * so many are written in ten seconds; then one line says how many more there were. Characters that would act on a
 * terminal are written as escapes.
 *
 * @param into standard output, unless it is given
 */
export function makeLog(level: string, into?: DestinationStream): Logger {
  const isWritten = limitFloods((kind, leftOut) => {
    log.warn({ left_out: leftOut, like: kind }, 'lines of one kind were left out');
  });
  const options: LoggerOptions = {
    level,
    redact: redacted,
    mixin: trailFields,
    hooks: {
      logMethod(args, method, lineLevel) {
        if (lineLevel < warnLevel || isWritten(kindOf(args))) method.apply(this, args);
      },
      // JSON leaves most control characters above U+007F as they are, and somebody may read the log in a terminal.
      streamWrite: (line) => `${printable(line.trimEnd())}\n`,
    },
  };
  const log = pino(options, into ?? standardOutput());
  return log;
}
