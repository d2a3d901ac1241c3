/** Shorter parts of an address, such as `v2`, are words that may stand in any sentence. */
const minSecret = 8;
const minPassword = 4;

/**
 * Removes the secrets of an endpoint's address from what the provider says. Some providers quote the key in the path,
 * or the login, when they refuse it.
 *
 * @param url an endpoint's address, whose user, password, path and query may be secret
 */
export function withoutSecrets(said: string, url: string): string {
  const { username, password, pathname, searchParams } = new URL(url);
  const login = [username, password].map((part) => decodeURIComponent(part));
  const sent = username ? [Buffer.from(login.join(':')).toString('base64')] : [];
  const keys = [...pathname.split('/'), ...searchParams.values()].filter(({ length }) => length >= minSecret);
  const passwords = [password, login[1] ?? ''].filter(({ length }) => length >= minPassword);
  return [...sent, ...keys, ...passwords].reduce((text, secret) => text.replaceAll(secret, '…'), said);
}
