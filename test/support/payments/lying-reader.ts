import { fakeProvider } from '../chain/fake-provider.ts';
import { payFixtures } from './pay-fixtures.ts';

export type LyingReader = Awaited<ReturnType<typeof lyingReader>>;

/** `payFixtures` with two endpoints: the reader's endpoint lies on demand, the other one is the chain itself. */
export async function lyingReader() {
  let liar: Awaited<ReturnType<typeof fakeProvider>> | undefined;
  const fixtures = await payFixtures([], async (target) => {
    liar = await fakeProvider(target);
    return [liar.url];
  });
  const provider = liar as Awaited<ReturnType<typeof fakeProvider>>;
  return {
    ...fixtures,
    /** The endpoint that the watcher reads. */
    liar: provider,
    stop: async () => {
      await fixtures.stop();
      await provider.stop();
    },
  };
}
