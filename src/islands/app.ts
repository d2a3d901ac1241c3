/** Pages of people who work here: regions that renew themselves when something changed, and buttons that copy. */
import './lib/regions.ts';
// After the regions, which remember what the server said.
import './lib/copy-buttons.ts';
