/**
 * Whether an `Accept` header prefers JSON to a page: it names `application/json`, and with a greater weight than
 * `text/html`. Ranges such as an asterisk name neither, since link previews send them too.
 */
export function prefersJson(accept: string | undefined): boolean {
  const ranges = (accept ?? '').slice(0, 1_000).split(',').map(rangeOf);
  const weightOf = (type: string) =>
    Math.max(0, ...ranges.filter((one) => one.type === type).map(({ weight }) => weight));
  return weightOf('application/json') > weightOf('text/html');
}

function rangeOf(part: string): { type: string; weight: number } {
  const [type = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
  const given = parameters.map((one) => /^q=([01](?:\.\d{0,3})?)$/.exec(one)?.[1]).find((one) => one !== undefined);
  return { type, weight: Number(given ?? 1) };
}
