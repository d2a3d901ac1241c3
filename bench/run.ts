import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { loadavg } from 'node:os';
import { basename, join } from 'node:path';
import type { Figure } from './figure.ts';
import { render, writeBlock } from './report.ts';
import { openStage } from './stage.ts';

/**
 * `npm run bench <name>` measures a figure and rewrites its block of `docs/performance.md`; `npm run bench` lists the
 * figures, and `npm run bench all` measures one after the other, each in a process of its own. `BENCH_ROUNDS=2` is a
 * quick look, which is printed and not written down.
 */
const folder = join(import.meta.dirname, 'figures');
const names = globSync('*.ts', { cwd: folder })
  .map((file) => basename(file, '.ts'))
  .sort();
const [wanted = '', ...args] = process.argv.slice(2);

const load = async (name: string): Promise<Figure> => (await import(join(folder, `${name}.ts`))).figure;

async function list(): Promise<void> {
  for (const name of names) process.stdout.write(`${name.padEnd(14)}${(await load(name)).what}\n`);
}

function measureAll(): void {
  const failed = names.filter((name) => {
    process.stdout.write(`\n# ${name}\n`);
    return spawnSync(process.execPath, [import.meta.filename, name], { stdio: 'inherit' }).status !== 0;
  });
  process.stdout.write(`\n${names.length - failed.length} of ${names.length} measured.\n`);
  if (failed.length > 0) throw new Error(`not measured: ${failed.join(', ')}`);
}

async function measure(name: string): Promise<void> {
  const figure = await load(name);
  const stage = openStage(args);
  const giveUp = (reason: string) => {
    process.stderr.write(`${reason}\n`);
    void stage.clear().finally(() => process.exit(1));
  };
  const timer = setTimeout(() => giveUp(`It took more than ${figure.limitMinutes} min.`), figure.limitMinutes * 60_000);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp('Broken off.'));
  try {
    const before = loadavg()[0]?.toFixed(1) ?? '';
    const text = render(figure, await figure.measure(stage), before);
    process.stdout.write(`\n${text}\n`);
    if (!process.env.BENCH_ROUNDS) writeBlock(name, text);
  } finally {
    clearTimeout(timer);
    await stage.clear();
  }
}

if (wanted === '') await list();
else if (wanted === 'all') measureAll();
else if (names.includes(wanted)) await measure(wanted);
else {
  process.stderr.write(`No figure is called ${wanted}. There are ${names.join(', ')}.\n`);
  process.exitCode = 2;
}
