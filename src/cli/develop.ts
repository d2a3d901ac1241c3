import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { openOwner } from '../db/connection.ts';
import { startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { dumpSchema } from '../db/schema-dump.ts';
import { buildServer } from '../http/server.ts';
import { breakingChanges, type OpenApi } from './api-changes.ts';
import { type Arguments, type Command, word } from './command.ts';

/** Writes a generated file, or with `--check` refuses one that is out of date. */
function writeOrCheck(args: Arguments, file: string, text: string, command: string): { file: string } {
  if (!args.options.check) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is out of date: run npm run ${command}.`);
  return { file };
}

/** The last committed document or, if the file is that one, the committed version before it; null if there is none. */
function earlierDocument(file: string): OpenApi | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const commits = git('log', '--format=%H', '-2', 'HEAD', '--', file).split('\n');
    const unchanged = git('show', `HEAD:${file}`) === readFileSync(file, 'utf8').trim();
    const commit = unchanged ? commits[1] : commits[0];
    return commit ? (JSON.parse(git('show', `${commit}:${file}`)) as OpenApi) : null;
  } catch {
    return null; // no git repository, or the first version of the document
  }
}

async function openapi(ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const file = word(args, 0, 'The file');
  const baseUrl = 'http://localhost:3000';
  const app = await buildServer({ ...ctx, config: { ...ctx.config, baseUrl, payUrl: `${baseUrl}/pay` } });
  const document = app.swagger() as unknown as OpenApi;
  await app.close();
  const written = writeOrCheck(args, file, `${JSON.stringify(document, null, 2)}\n`, 'openapi');
  const earlier = args.options.check ? earlierDocument(file) : null;
  const breaking = earlier ? breakingChanges(earlier, document) : [];
  if (breaking.length > 0)
    throw new Error(`The API would break its clients:\n${breaking.map((line) => `  ${line}`).join('\n')}`);
  return written;
}

async function schema(_ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-schema-'));
  const server = await startEmbedded(folder);
  const owner = openOwner(server.url);
  try {
    await migrate(owner);
    return writeOrCheck(args, word(args, 0, 'The file'), await dumpSchema(owner), 'schema');
  } finally {
    await owner.end();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Commands for developers, which write or check generated files. They need no running service. */
export const developCommands: Command[] = [
  { name: 'openapi', usage: '<file> [--check]', summary: 'Writes or checks the OpenAPI document.', run: openapi },
  { name: 'schema', usage: '<file> [--check]', summary: 'Writes or checks the schema dump.', run: schema },
];
