/** What `doctor` reports of one thing, and what to do about it; empty if all is well. */
export type Finding = { check: string; state: 'ok' | 'attention' | 'failed'; advice: string };
