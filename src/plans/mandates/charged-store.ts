import type { Tag } from '../../db/sql.ts';

/** How many charges of a plan `p` were made and are still to be collected, or are under way. */
export const uncollected = (sql: Tag) => sql`
  (select count(*)::int from collections c
    where (c.partner_id, c.test_mode, c.plan_id) = (p.partner_id, p.test_mode, p.id)
      and c.state in ('waiting', 'sent'))`;
