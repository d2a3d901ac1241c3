import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf } from './programs.ts';

test('a password in the address or among its parameters → not among the arguments of a program', () => {
  assert.deepEqual(addressOf('postgres://own:secret@db:5433/one?sslmode=verify-full'), [
    '--dbname=postgres://own@db:5433/one?sslmode=verify-full',
  ]);
  assert.deepEqual(addressOf('postgres://own@db/one?password=secret&sslmode=require'), [
    '--dbname=postgres://own@db/one?sslmode=require',
  ]);
});
