import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder } from './folders.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const programs = ['/usr/bin/buildah', '/usr/sbin/debootstrap'];
const stepLimitMs = 900_000;
const authorities = 'etc/ssl/certs/ca-certificates.crt';
/** What must work in the base image before the service's image is built: later failures are then the image's fault. */
const allowed = 'apt-get update --quiet=2 && npm ping';

/** How the image runs, from its configuration. */
export type ImageConfig = {
  User: string;
  Cmd: string[];
  Env: string[];
  StopSignal: NodeJS.Signals;
  Healthcheck: { Test: string[] };
};

export type Image = {
  /** The folder where its files can be read. */
  files: string;
  config: ImageConfig;
  /** Starts a command in the image's environment, with the machine's network, as its user. */
  start(command: readonly string[], env: Record<string, string>, mounted?: Record<string, string>): ChildProcess;
};

/**
 * The image of the Containerfile, built by buildah without a daemon and without a registry: its base image is made here
 * from Debian's mirror and this checkout's Node.
 */
export function imageBuilder() {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-container-'));
  const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'images'), '--runroot', join(folder, 'run')];
  const buildah = async (...words: string[]) =>
    (
      await run('buildah', [...storage, ...words], { cwd: root, timeout: stepLimitMs, maxBuffer: 2 ** 26 })
    ).stdout.trim();
  const build = (tag: string, file: string, context: string) =>
    buildah(
      'build',
      '--isolation',
      'chroot',
      '--format',
      'docker',
      '--pull-never',
      '--tag',
      tag,
      '--file',
      file,
      context,
    );
  const started = (container: string, words: readonly string[], options: readonly string[] = []) => [
    ...[...storage, 'run', '--isolation', 'chroot', ...options, container, '--'],
    ...words,
  ];
  let base = '';

  /** Why the base image's network or this machine's namespaces do not work; null if they do. */
  const hindranceNow = () =>
    attempt(() => run('buildah', started(base, ['sh', '-c', allowed]), { timeout: stepLimitMs }));

  return {
    /** Makes the base image. Returns what this machine lacks for it, or null. */
    prepare: async (name: string): Promise<string | null> => {
      const missing = programs.filter((program) => !existsSync(program));
      if (missing.length > 0) return `there is no ${missing.join(' and no ')}`;
      if (process.getuid?.() !== 0) return 'debootstrap needs root';
      return (
        (await attempt(async () => {
          await run(
            'debootstrap',
            ['--variant=minbase', '--include=ca-certificates', 'bookworm', join(folder, 'base')],
            {
              timeout: stepLimitMs,
            },
          );
          await addNode(join(folder, 'base'));
          await build(name, baseFile(folder), join(folder, 'base'));
          base = await buildah('from', '--pull-never', name);
        })) ?? hindranceNow()
      );
    },
    /** Why it could not be built, if that is the machine's fault. */
    hindranceNow,
    build: async (): Promise<Image> => {
      await build('quittance', join(root, 'Containerfile'), root);
      const container = await buildah('from', '--pull-never', 'quittance');
      const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', 'quittance'));
      return {
        files: await buildah('mount', container),
        config: Docker.config as ImageConfig,
        start: (command, env, mounted = {}) => {
          const settings = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
          const volumes = Object.entries(mounted).flatMap(([from, to]) => ['--volume', `${from}:${to}:ro`]);
          return spawn('buildah', started(container, command, [...settings, ...volumes]), {
            stdio: ['ignore', 'pipe', 'pipe'],
          });
        },
      };
    },
    remove: async () => {
      await attempt(() => buildah('umount', '--all'));
      removeFolder(folder);
    },
  };
}

/** Node and npm as Node's own images have them, with a user, and the authorities that this machine trusts. */
async function addNode(base: string): Promise<void> {
  const npm = dirname(dirname(process.env.npm_execpath ?? ''));
  copyFileSync(process.execPath, join(base, 'usr/local/bin/node'));
  chmodSync(join(base, 'usr/local/bin/node'), 0o755);
  mkdirSync(join(base, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(npm, join(base, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'));
  if (existsSync(join('/', authorities))) copyFileSync(join('/', authorities), join(base, authorities));
  await run('chroot', [base, 'useradd', '--create-home', '--uid', '1000', 'node']);
}

function baseFile(folder: string): string {
  const file = join(folder, 'Base');
  writeFileSync(file, `FROM scratch\nCOPY . /\nENV NODE_EXTRA_CA_CERTS=/${authorities}\n`);
  return file;
}

/** Runs work. Returns the last lines of its error; null if it succeeded. */
async function attempt(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const { stderr, stdout, message } = error as { stderr?: string; stdout?: string; message: string };
    return (stderr?.trim() || stdout?.trim() || message).split('\n').slice(-3).join(' ').slice(-300);
  }
}
