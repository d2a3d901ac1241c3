/** The details elements of a region, by the text of the summary and, among equal ones, by their position. */
function partsOf(region: ParentNode): Map<string, HTMLDetailsElement> {
  const parts = new Map<string, HTMLDetailsElement>();
  const seen = new Map<string, number>();
  for (const part of region.querySelectorAll('details')) {
    const text = part.querySelector('summary')?.textContent?.trim() ?? '';
    const place = seen.get(text) ?? 0;
    seen.set(text, place + 1);
    parts.set(`${place} ${text}`, part);
  }
  return parts;
}

/**
 * Replaces a region's content. Details that somebody has unfolded or folded stay so.
 *
 * @param serverHtml the server's HTML of the old content, which shows what was open at first
 */
export function keepDetailsState(region: Element, serverHtml: string, replace: () => void): void {
  const original = document.createElement('template');
  original.innerHTML = serverHtml;
  const initial = partsOf(original.content);
  const before = [...partsOf(region)].filter(([key, part]) => part.open !== initial.get(key)?.open);
  replace();
  const after = partsOf(region);
  for (const [key, { open }] of before) {
    const part = after.get(key);
    if (part) part.open = open;
  }
}
