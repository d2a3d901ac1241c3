import type { Visitor } from './visitor.ts';

export type Posted = { status: number; location: string | null; html: string };

/** Sends a form that a page does not contain in this state: ticked boxes, files. Follows no redirect. */
export async function postForm(
  url: string,
  visitor: Visitor,
  path: string,
  fields: [name: string, value: string | Blob][] = [],
): Promise<Posted> {
  const hasFile = fields.some(([, value]) => typeof value !== 'string');
  const body = hasFile ? new FormData() : new URLSearchParams();
  for (const [name, value] of fields) (body as FormData).append(name, value as string);
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    redirect: 'manual',
    body,
    headers: {
      'sec-fetch-site': 'same-origin',
      cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    },
  });
  return { status: response.status, location: response.headers.get('location'), html: await response.text() };
}
