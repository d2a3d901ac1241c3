import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, BackupFault, withFile } from './programs.ts';

test('a password in the address or among its parameters → not among the arguments of a program', () => {
  assert.deepEqual(addressOf('postgres://own:secret@db:5433/one?sslmode=verify-full'), [
    '--dbname=postgres://own@db:5433/one?sslmode=verify-full',
  ]);
  assert.deepEqual(addressOf('postgres://own@db/one?password=secret&sslmode=require'), [
    '--dbname=postgres://own@db/one?sslmode=require',
  ]);
});

test('no folder for temporary files can be written → a sentence names it, and how to choose another', async () => {
  const { TMPDIR } = process.env;
  process.env.TMPDIR = '/nowhere';
  try {
    await assert.rejects(
      withFile('text', async () => {}),
      new BackupFault('No file can be written in /nowhere (ENOENT). Set TMPDIR to a folder that this user can write.'),
    );
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
});
