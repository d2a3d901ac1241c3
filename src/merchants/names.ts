import type { Scope } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import type { Fragment, Tag } from '../db/sql.ts';

/**
 * The names of the merchants on a page of rows with `account_id`, as a query `shops` (`shop_id`, `merchant_name`). It
 * follows `with page as materialized (…)`. One scan reads all names: a join would check the scope again for each row.
 */
export const namesOfPage = (sql: Tag, { partnerId, testMode }: Scope): Fragment => sql`
  shops as materialized (
    select m.id as shop_id, ${shownName(sql)} as merchant_name from merchants m
    where m.partner_id = ${partnerId} and m.test_mode = ${testMode}
      and m.id = any(array(select account_id from page)))`;
