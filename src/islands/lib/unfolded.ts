/** A part is known by the text of its summary and, where several say the same, by its place among them. */
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
 * Does what replaces a region's content. A part that somebody has unfolded or folded stays so.
 *
 * @param told the content as the server said it, which says what was open to begin with
 */
export function keepUnfolded(region: Element, told: string, replace: () => void): void {
  const said = document.createElement('template');
  said.innerHTML = told;
  const begun = partsOf(said.content);
  const before = [...partsOf(region)].filter(([key, part]) => part.open !== begun.get(key)?.open);
  replace();
  const after = partsOf(region);
  for (const [key, { open }] of before) {
    const part = after.get(key);
    if (part) part.open = open;
  }
}
