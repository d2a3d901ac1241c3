import type { Scope } from '../db/connection.ts';
import type { Statement, Tag } from '../db/sql.ts';
import { type RequestRow, requestColumns } from './store.ts';

export const selectRequest = (sql: Tag, scope: Scope, id: string): Statement<RequestRow[]> => sql<RequestRow[]>`
  select ${requestColumns(sql)} from requests r
  where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}`;
