/** WalletConnect's storage, in memory, so that nothing stays on the device when the page is closed. */
export class MemoryStorage {
  readonly #entries: Map<string, unknown>;

  constructor(entries: [string, unknown][] = []) {
    this.#entries = new Map(entries);
  }

  getKeys(): Promise<string[]> {
    return Promise.resolve([...this.#entries.keys()]);
  }

  getEntries<T>(): Promise<[string, T][]> {
    return Promise.resolve([...this.#entries] as [string, T][]);
  }

  getItem<T>(key: string): Promise<T | undefined> {
    return Promise.resolve(this.#entries.get(key) as T | undefined);
  }

  setItem<T>(key: string, value: T): Promise<void> {
    this.#entries.set(key, value);
    return Promise.resolve();
  }

  removeItem(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }
}
