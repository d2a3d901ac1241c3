import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actions } from '../src/audit/actions.ts';

const files = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|^src\/(?:audit|texts|ui)\//.test(file));
const isCaller = (file: string) => /^src\/(?:admin|portal|dashboard|checkout|cli|sandbox|http)\//.test(file);

/** The files that name an action as one that they write, as `action: '…'` or as a choice of two. */
function writersOf(action: string): string[] {
  return files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return text.includes(`'${action}'`) && /\b(?:audit|withAudit|withAuditIn|recorded)\(/.test(text);
  });
}

/** Acts that a page still writes around a verb, with the pages that do. */
const writtenByPages: Record<string, string[]> = {
  'payment.put_back': ['src/dashboard/payments/refund.ts'],
  'payment.released': ['src/dashboard/payments/refund.ts'],
  'payment.returned': ['src/dashboard/payments/refund.ts'],
  'payment.taken': ['src/dashboard/payments/refund.ts'],
  'request.created': ['src/dashboard/home/new-request.ts', 'src/portal/webhooks/test.ts'],
  'session.revoked': ['src/admin/users/user.ts', 'src/dashboard/settings/sessions.ts'],
};

test('every act is written by somebody', () => {
  const unwritten = Object.keys(actions).filter((action) => writersOf(action).length === 0);
  assert.deepEqual(unwritten, []);
});

test('an act is written by its verb, whoever calls it: pages and commands write none but those named here', () => {
  const found = Object.keys(actions).flatMap((action) => {
    const pages = writersOf(action).filter(isCaller);
    return pages.length > 0 ? [[action, pages.sort()] as const] : [];
  });
  assert.deepEqual(Object.fromEntries(found.sort()), writtenByPages);
});
