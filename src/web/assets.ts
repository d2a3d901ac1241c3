import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import type { FastifyInstance } from 'fastify';
import { type Encoded, encode, encodingFor } from '../lib/text/encodings.ts';
import { buildTargets } from './browsers.ts';

/** The browser's part of a page, one file each in `src/islands/`. */
export type IslandName =
  | 'pay'
  | 'plan'
  | 'receipt'
  | 'onboard'
  | 'app'
  | 'cashier'
  | 'refund'
  | 'passkey'
  | 'reference';

const folder = join(import.meta.dirname, '../islands');
const sources = globSync('**/*.ts', { cwd: folder }).sort();
const packages = readFileSync(join(folder, '../../package.json'));
/** Changes with every source and package, so that files that browsers cache for ever are never stale. */
const version = sources
  .reduce(
    (hash, file) => hash.update(file).update(readFileSync(join(folder, file))),
    createHash('sha256').update(packages),
  )
  .digest('hex')
  .slice(0, 10);

/** Address of an island's script. */
export function islandPath(name: IslandName): string {
  return `/assets/${name}-${version}.js`;
}

/**
 * Addresses of the files that an island's script imports. A page names them, so that browsers request all at once, and
 * not only after they have read the script. None until the islands are bundled, which the first request for one begins.
 */
export function islandParts(name: IslandName): readonly string[] {
  return partsOf.get(basename(islandPath(name))) ?? [];
}

/** The script that includes WalletConnect's large library. It is bundled at the first request, because few need it. */
export const walletConnectPath = `/assets/wallet-connect-${version}.js`;

type Bundle = Promise<Map<string, Encoded>>;
/** The files that an island's script imports, directly or through others; none before the islands are bundled. */
const partsOf = new Map<string, string[]>();
let bundled: Bundle | undefined;
let walletConnect: Bundle | undefined;

/**
 * Bundles all islands, once per process. Each is one small file; code that several share, or load lazily, is in
 * separate files.
 */
function bundleIslands(): Bundle {
  bundled ??= bundle(sources.filter((file) => !file.includes('/')));
  return bundled;
}

async function bundle(files: string[]): Bundle {
  const { outputFiles, metafile } = await build({
    entryPoints: files.map((file) => join(folder, file)),
    outdir: '/assets',
    entryNames: `[name]-${version}`,
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: buildTargets,
    minify: true,
    define: { global: 'globalThis' },
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const encoded = outputFiles.map(async ({ path, contents }) => {
    return [basename(path), await encode(Buffer.from(contents))] as const;
  });
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint) partsOf.set(basename(path), importedBy(path, metafile));
  }
  return new Map(await Promise.all(encoded));
}

/** The addresses of all files that one imports when it is loaded. */
function importedBy(path: string, { outputs }: Metafile): string[] {
  const found = new Set([path]);
  for (const each of found) {
    for (const { path: next, kind } of outputs[each]?.imports ?? []) if (kind === 'import-statement') found.add(next);
  }
  found.delete(path);
  return [...found].map((each) => `/assets/${basename(each)}`);
}

/** `GET /assets/:name`: browser code. Browsers cache it for ever, because its name changes with its content. */
export function assetRoutes(app: FastifyInstance): void {
  assetRoute(app, '/assets/:name', bundleIslands);
}

/** Serves the script for WalletConnect; registered only if an operator has configured it. */
export function walletConnectRoute(app: FastifyInstance): void {
  assetRoute(app, walletConnectPath, () => {
    walletConnect ??= bundle(['lazy/wallet-connect.ts']);
    return walletConnect;
  });
}

function assetRoute(app: FastifyInstance, url: string, assets: () => Bundle): void {
  app.route({
    method: 'GET',
    url,
    config: { auth: 'public' },
    handler: async (request, reply) => {
      const asset = (await assets()).get(basename(request.url.split('?', 1)[0] ?? ''));
      // Plain text, because nobody looks at it, and an HTML page would take as long as one that is limited.
      if (!asset) return reply.code(404).type('text/plain; charset=utf-8').send('There is no such file.\n');
      const encoding = encodingFor(request.headers['accept-encoding']);
      if (encoding !== 'identity') reply.header('content-encoding', encoding);
      return reply
        .headers({
          'content-type': 'text/javascript; charset=utf-8',
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
          vary: 'accept-encoding',
        })
        .send(asset[encoding]);
    },
  });
}
