import type { Database } from '../db/connection.ts';
import { type Partner, selectPartner } from './store.ts';

/** The partner of a slug; null when there is none. */
export const readPartner = (db: Database, slug: string): Promise<Partner | null> => selectPartner(db, slug);
