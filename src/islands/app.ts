/**
 * Pages behind a sign-in: regions that refresh when something changed, charts, copy buttons, confirmations,
 * forms that are sent once, names of units, passkeys.
 */
import './lib/regions.ts';
import './lib/chart-keys.ts';
import './lib/copy-buttons.ts';
import './lib/fold-confirmation.ts';
import './lib/mode-in-address.ts';
import './lib/send-once.ts';
import './lib/unit-names.ts';
import { keepForms } from './lib/kept-forms.ts';

keepForms();

if (document.querySelector('[data-previews]')) void import('./lib/branding-previews.ts');

if (document.querySelector('[data-passkey]')) void import('./passkey.ts');
