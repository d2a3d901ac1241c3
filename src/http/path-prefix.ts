/** Whether a path is one of these, or below one of them. */
export const hasPathPrefix = (path: string, paths: readonly string[]): boolean =>
  paths.some((one) => path === one || path.startsWith(`${one}/`));
