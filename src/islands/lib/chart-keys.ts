/**
 * Charts: one stop of the Tab key each, in which the arrow keys go from column to column. The column that has the focus
 * or the pointer says its values above the drawing.
 */
import { onRenewed } from './regions.ts';

const steps: Record<string, (at: number, last: number) => number> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_, last) => last,
};

/** The columns, from left to right in every language. */
const columnsOf = (chart: Element) => [...chart.querySelectorAll<SVGElement>('svg [tabindex]')];

/** The column of an event; null outside of charts. */
const columnAt = ({ target }: Event) => (target as Element).closest<SVGElement>('.chart svg [tabindex]');

function showValues(column: SVGElement): void {
  const values = column.closest('.chart')?.querySelector('[data-values]');
  if (values) values.textContent = column.getAttribute('aria-label');
}

// On the document, because charts in live regions are replaced.
document.addEventListener('keydown', (event) => {
  const column = columnAt(event);
  const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
  const chart = column?.closest('.chart');
  if (!column || !chart || !step) return;
  event.preventDefault();
  const columns = columnsOf(chart);
  columns[step(columns.indexOf(column), columns.length - 1)]?.focus();
});
/** Which column of a chart, by the chart's name, is its stop of the Tab key. */
const stops = new Map<string | null, number>();

function moveStop(chart: Element, to: number): void {
  for (const [at, column] of columnsOf(chart).entries()) column.tabIndex = at === to ? 0 : -1;
}

document.addEventListener('focusin', (event) => {
  const column = columnAt(event);
  const chart = column?.closest('.chart');
  if (!column || !chart) return;
  const at = columnsOf(chart).indexOf(column);
  stops.set(chart.ariaLabel, at);
  moveStop(chart, at);
  showValues(column);
});
// A chart that is replaced keeps its stop.
onRenewed((place) => {
  for (const chart of place.querySelectorAll('.chart')) {
    const at = stops.get(chart.ariaLabel);
    if (at !== undefined && at < columnsOf(chart).length) moveStop(chart, at);
  }
});
document.addEventListener('pointerover', (event) => {
  const column = columnAt(event);
  if (column) showValues(column);
});
