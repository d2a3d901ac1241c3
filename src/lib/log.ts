import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { trailFields } from './trail.ts';

/** The database's message about a row that it refused contains the row itself: addresses, links, codes. */
const unsaid = ['req.headers.authorization', 'err.detail', 'err.where'];

/**
 * The service's log. Each line has the fields of the trail that it belongs to.
 *
 * @param into standard output, unless it is given
 */
export function makeLog(level: string, into?: DestinationStream): Logger {
  const options: LoggerOptions = { level, redact: unsaid, mixin: trailFields };
  return into ? pino(options, into) : pino(options);
}
