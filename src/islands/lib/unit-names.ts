import { unitName } from '../../lib/text/unit-name.ts';
import { language } from './texts.ts';

/** A field for a number names in `data-counts` the list of units after it, whose names agree with the number. */
addEventListener('input', ({ target }) => {
  const { value, dataset } = target as HTMLInputElement;
  const units = dataset.counts && (document.getElementById(dataset.counts) as HTMLSelectElement | null);
  if (!units || !/^\d+$/.test(value)) return;
  for (const option of units.options) option.text = unitName(language, option.value, Number(value));
});
