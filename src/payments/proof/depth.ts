import type { Context } from '../../context.ts';
import { selectUnjudgedDepth } from './depth-store.ts';

/** Operators: how many transfers wait to be judged, over all chains; counted up to `most`. */
export const unjudgedDepth = (ctx: Context, most: number) => selectUnjudgedDepth(ctx.db.sql, most);
