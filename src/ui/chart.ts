import { type Html, html, raw } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { fill, type Words } from './language.ts';

/** A column of the chart: a label such as a day, and one whole value for each series, such as minor units. */
export type Bar = { label: string; values: number[] };
export type Chart = {
  title: string;
  /** At most two, each with its name. */
  series: string[];
  bars: Bar[];
  /** Formats a value with its unit. */
  format: (value: number) => string;
};

const width = 720;
const height = 220;
const edge = { left: 64, right: 8, top: 12, bottom: 28 };
/** The average width of a character on the scale, in pixels. */
const letterWidth = 7;

/**
 * A column chart drawn on the server: labelled axes, values on focus and hover (`islands/lib/chart-keys.ts`), and the
 * same figures in a table behind a toggle.
 */
export function chart(words: Words, { title, series, bars, format }: Chart): Html {
  const { app } = commonTexts(words);
  const top = niceTop(Math.max(0, ...bars.flatMap(({ values }) => values)));
  // No amount is half a minor unit: rounded, the label in the middle would be wrong.
  const ticks = top % 2 === 0 ? [0, top / 2, top] : [0, top];
  const scale = ticks.map((value) => ({ value, label: format(value) }));
  const left = Math.max(edge.left, 8 + letterWidth * Math.max(...scale.map(({ label }) => label.length)));
  const slot = (width - left - edge.right) / Math.max(1, bars.length);
  const column = Math.max(2, Math.min(36, (slot * 0.7) / Math.max(1, series.length)));
  const y = (value: number) => height - edge.bottom - (value / top) * (height - edge.top - edge.bottom);
  const every = Math.ceil(bars.length / 8);
  const grid = scale.map(
    ({ value, label }) =>
      `<line x1="${left}" x2="${width - edge.right}" y1="${y(value)}" y2="${y(value)}" class="grid"/>${text('scale', left - 8, y(value) + 4, label)}`,
  );
  const columns = bars.map(({ label, values }, i) => {
    const middle = left + slot * (i + 0.5);
    const spoken = `${label}: ${values.map((value, s) => `${series[s]} ${format(value)}`).join(', ')}`;
    const drawn = values.map((value, s) => {
      const x = middle - (column * values.length) / 2 + s * column;
      const tall = Math.max(value > 0 ? 1 : 0, height - edge.bottom - y(value));
      return `<rect class="series-${s}" x="${round(x)}" y="${round(height - edge.bottom - tall)}" width="${round(column - 1)}" height="${round(tall)}" rx="2"/>`;
    });
    const name = (i / every) % 2 === 0 ? 'below' : 'below between';
    const below = i % every === 0 ? text(name, middle, height - 8, label) : '';
    // Without script, the keyboard reaches the newest column, and the others in the table.
    const stop = i === bars.length - 1 ? 0 : -1;
    return `<g tabindex="${stop}" role="img" aria-label="${escaped(spoken)}"><title>${escaped(spoken)}</title><rect class="hit" x="${round(middle - slot / 2)}" y="${edge.top}" width="${round(slot)}" height="${height - edge.top - edge.bottom}"/>${drawn.join('')}</g>${below}`;
  });
  const drawing = `<svg viewBox="0 0 ${width} ${height}">${grid.join('')}${columns.join('')}</svg>`;
  const legend =
    series.length > 1 &&
    html`<p class="legend">${series.map((name, s) => html`<span class="series-${s}">${name}</span>`)}</p>`;
  return html`
    <figure class="chart" aria-label="${fill(app.chartOf, { title })}">
      <figcaption>
        <strong>${title}</strong>
        ${legend}
        <span class="quiet" data-values aria-hidden="true"></span>
      </figcaption>
      ${raw(drawing)}
      <details>
        <summary>${app.figures}</summary>
        <div class="table">
          <table>
            <caption class="hidden">${title}</caption>
            <thead>
              <tr>
                <td></td>
                ${series.map((name) => html`<th scope="col" class="figures">${name}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${bars.map(
                ({ label, values }) =>
                  html`
                    <tr>
                      <th scope="row">${label}</th>
                      ${values.map(
                        (value, s) => html`<td class="figures" data-name="${series[s]}">${format(value)}</td>`,
                      )}
                    </tr>
                  `,
              )}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  `;
}

const round = (value: number) => Math.round(value * 10) / 10;
const escaped = (value: string) => html`${value}`.text;

function text(name: string, x: number, y: number, content: string): string {
  return `<text class="${name}" x="${round(x)}" y="${round(y)}">${escaped(content)}</text>`;
}

/** Rounds up to 1, 2 or 5 times a power of ten, for readable axes. */
function niceTop(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}
