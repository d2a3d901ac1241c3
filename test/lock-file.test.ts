import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Entry = { resolved?: string; link?: true; integrity?: string };

/** Packages for platforms other than Linux on x86-64 with glibc. Their hashes are not recorded yet. */
const unpinned = [
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64'].map((kind) => `@biomejs/cli-${kind}`),
  ...['linux-arm64-musl', 'linux-x64-musl', 'win32-arm64', 'win32-x64'].map((kind) => `@biomejs/cli-${kind}`),
  ...['darwin-amd64', 'darwin-arm64', 'linux-arm64', 'win32-amd64'].map((kind) => `@foundry-rs/anvil-${kind}`),
];

test('package-lock.json › a hash pins every package but the named ones, and none names a registry', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };
  const entries = Object.entries(packages).filter(([place, { link }]) => place !== '' && !link);
  assert.ok(entries.length > 100);
  const isPinned = ({ integrity = '' }: Entry) => /^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity);
  const without = entries.filter(([, entry]) => !isPinned(entry)).map(([place]) => place.replace('node_modules/', ''));
  assert.deepEqual(without, unpinned);
  assert.deepEqual(
    entries.filter(([, { resolved }]) => resolved !== undefined),
    [],
  );
});
