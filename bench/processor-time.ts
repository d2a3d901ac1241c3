import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel counts processor time in hundredths of a second. */
const tickMs = 10;

/** The processor time that a process has used, in milliseconds; with `ended`, also what its ended children had used. */
export function cpuMs(pid: number, ended = false): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = fields.slice(11, ended ? 15 : 13).map(Number);
  return ticks.reduce((sum, each) => sum + each, 0) * tickMs;
}

/** The processor time that a figure's PostgreSQL has used in all its processes, in milliseconds. */
export function databaseCpuMs(folder: string): number {
  const pid = Number(readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.reduce((sum, child) => sum + cpuMs(child), cpuMs(pid, true));
}
