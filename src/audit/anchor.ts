import type { Context } from '../context.ts';
import { readEnds } from './verify.ts';
import { noPartner } from './write.ts';

const perLine = 100;

/**
 * Loop: anchors the audit logs: writes the end of each to the service's own log, which nobody can change through the
 * database. If an audit log is truncated later, the entry with that hash is missing. Written at any `LOG_LEVEL`, except
 * in a sandbox, whose logs nobody keeps.
 *
 * @returns how many ends were written
 */
export async function anchorLogs(ctx: Pick<Context, 'db' | 'log' | 'config'>): Promise<number> {
  const log = ctx.config.sandbox ? ctx.log : ctx.log.child({}, { level: 'info' });
  let noted = 0;
  let line: { log: string; rows: string; hash: string }[] = [];
  const flush = () => {
    if (line.length > 0) log.info({ ends: line }, 'the ends of the audit logs');
    noted += line.length;
    line = [];
  };
  for await (const { partner_id: id, last_number: rows, last_hash: hash } of readEnds(ctx, null)) {
    if (rows === null || hash === null) continue;
    line.push({ log: id === noPartner ? 'operators' : id, rows, hash: hash.toString('hex') });
    if (line.length === perLine) flush();
  }
  flush();
  return noted;
}
