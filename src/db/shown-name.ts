import { visible } from '../lib/text/visible.ts';
import type { Fragment, Tag } from './sql.ts';

/** The name that people read of a merchant `m`: the first of its two that shows anything; null if neither does. */
export const shownName = (sql: Tag): Fragment => sql`
  case when m.business_name ~ ${visible} then m.business_name when m.display_name ~ ${visible} then m.display_name end`;
