import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
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

/** The script that includes WalletConnect's large library. It is bundled at the first request, because few need it. */
export const walletConnectPath = `/assets/wallet-connect-${version}.js`;

type Bundle = Promise<Map<string, Encoded>>;
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
  const { outputFiles } = await build({
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
    logLevel: 'silent',
  });
  const encoded = outputFiles.map(async ({ path, contents }) => {
    return [basename(path), await encode(Buffer.from(contents))] as const;
  });
  return new Map(await Promise.all(encoded));
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
