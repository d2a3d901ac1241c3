import type { Tag } from '../../db/sql.ts';

const chargedUnder = (sql: Tag) => sql`
  from collections o
    where (o.partner_id, o.test_mode, o.plan_id, o.mandate_id) = (a.partner_id, a.test_mode, a.plan_id, a.id)
      and o.state = 'charged'`;

/** How many charges were taken under a mandate `a`. */
export const charged = (sql: Tag) => sql`(select count(*)::int ${chargedUnder(sql)})`;

/** When the newest charge that was taken under a mandate `a` had been made; null if none was taken. */
export const chargedAt = (sql: Tag) => sql`(select max(o.made_at) ${chargedUnder(sql)})`;

/** How many charges of a plan `p` were made and are still to be collected, or are under way. */
export const uncollected = (sql: Tag) => sql`
  (select count(*)::int from collections c
    where (c.partner_id, c.test_mode, c.plan_id) = (p.partner_id, p.test_mode, p.id)
      and c.state in ('waiting', 'sent'))`;
