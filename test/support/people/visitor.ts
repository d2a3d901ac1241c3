import { submit, type Visit, visit } from './forms.ts';

/** A person without script, whose browser keeps cookies and follows redirects of forms. */
export type Visitor = {
  /** Cookies by name, as set by the service. */
  cookies: Map<string, string>;
  /** Opens a path of the service, or an absolute address from one of its links. */
  open(path: string): Promise<Visit>;
  /** Sends the page's form whose action ends like this. Typed values replace its own. */
  send(page: Visit, actionEnd: string, typed?: Record<string, string>): Promise<Visit>;
};

const maxRedirects = 5;

/**
 * @param origin of the service under test: addresses in its pages may have a different one
 * @param extra headers of every call
 */
export function startVisitor(origin: string, extra: Record<string, string> = {}): Visitor {
  const cookies = new Map<string, string>();
  const headers = () => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { ...extra, ...(cookie && { cookie }) };
  };
  const arrive = async (page: Visit, left: number): Promise<Visit> => {
    for (const line of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0(?:;|$)/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = page.headers.get('location');
    if (page.status !== 303 || location === null || left === 0) return page;
    return arrive(await visit(new URL(location, origin).href, { headers: headers() }), left - 1);
  };
  const here = (path: string) => {
    const { pathname, search } = new URL(path, origin);
    return new URL(pathname + search, origin).href;
  };
  return {
    cookies,
    open: async (path) => arrive(await visit(here(path), { headers: headers() }), maxRedirects),
    send: async (page, actionEnd, typed = {}) =>
      arrive(await submit(origin, page, actionEnd, typed, headers()), maxRedirects),
  };
}
