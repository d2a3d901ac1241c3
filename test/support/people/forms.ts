import { request } from 'undici';

/** A person without script, who uses a page's forms as a browser would send them. */
export type Visit = { status: number; html: string; headers: Headers; forms: Form[] };
export type Form = { action: string; fields: Record<string, string> };

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}

/** The forms of a page with the values they would send unedited. Boxes are not ticked. */
export function readForms(html: string): Form[] {
  return [...html.matchAll(/<form [^>]*action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action = '', inner = '']) => {
    const fields: Record<string, string> = {};
    for (const [tag, name = ''] of inner.matchAll(/<input [^>]*?name="([^"]*)"[^>]*>/gs)) {
      if (tag.includes('type="checkbox"')) continue;
      if (tag.includes('type="radio"') && !tag.includes(' checked')) continue;
      fields[name] = decode(tag.match(/ value="([^"]*)"/s)?.[1] ?? '');
    }
    for (const [, name = '', value = ''] of inner.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>(.*?)<\/textarea>/gs)) {
      fields[name] = decode(value);
    }
    for (const [, name = '', options = ''] of inner.matchAll(/<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs)) {
      const values = [...options.matchAll(/<option value="([^"]*)"( selected)?/g)];
      fields[name] = decode((values.find(([, , selected]) => selected) ?? values[0])?.[1] ?? '');
    }
    return { action: decode(action), fields };
  });
}

type VisitInit = { method?: 'GET' | 'HEAD' | 'POST'; headers?: Record<string, string>; body?: URLSearchParams };

/** Fetches a page by HTTP without following redirects. Not by `fetch`, which always says `Sec-Fetch-Mode: cors`. */
export async function visit(url: string, init: VisitInit = {}): Promise<Visit> {
  const form = init.body ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const response = await request(url, {
    method: init.method ?? 'GET',
    headers: { ...form, ...init.headers },
    body: init.body?.toString() ?? null,
  });
  const html = await response.body.text();
  const headers = new Headers(
    Object.entries(response.headers).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])),
  );
  return { status: response.statusCode, html, headers, forms: readForms(html) };
}

/**
 * Sends the page's form whose action ends like this. Typed values replace its own; line ends are as browsers send them.
 */
export function submit(
  origin: string,
  page: Visit,
  actionEnd: string,
  typed: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Visit> {
  const form = page.forms.find(({ action }) => action.endsWith(actionEnd));
  if (!form) throw new Error(`no form for ${actionEnd} on this page:\n${page.html.replace(/<style>.*<\/style>/s, '')}`);
  const fields = Object.entries({ ...form.fields, ...typed }).map(([name, value]) => [
    name,
    value.replace(/\r?\n/g, '\r\n'),
  ]);
  return visit(new URL(form.action, origin).href, { method: 'POST', body: new URLSearchParams(fields), headers });
}
