import { fixedSource } from './fixed.ts';
import { middleOf, toDecimal } from './rules.ts';
import { dig, fetchExactJson, type RateSource } from './source.ts';

/** Public addresses of the sources; tests serve the same responses from their own. */
const publicBases = {
  coinbase: 'https://api.coinbase.com',
  kraken: 'https://api.kraken.com',
  coingecko: 'https://api.coingecko.com',
  bitstamp: 'https://www.bitstamp.net',
};
export type SourceBases = typeof publicBases;

/**
 * The sources of these names, as listed in `RATE_PROVIDERS`.
 *
 * @throws Error for an unknown name
 */
export function rateSources(names: readonly string[], bases: SourceBases = publicBases): RateSource[] {
  const known = [
    fixedSource,
    coinbase(bases.coinbase),
    kraken(bases.kraken),
    coingecko(bases.coingecko),
    bitstamp(bases.bitstamp),
  ];
  return names.map((name) => {
    const source = known.find((candidate) => candidate.name === name);
    if (!source) throw new Error(`There is no rate source "${name}".`);
    return source;
  });
}

/** `{"data":{"currency":"USDC","rates":{"EUR":"0.92", …}}}`, some 600 currencies in one answer. */
function coinbase(base: string): RateSource {
  return {
    name: 'coinbase',
    async fetchRates(codes, signal) {
      const answer = await fetchExactJson(new URL('/v2/exchange-rates?currency=USDC', base), signal);
      if (dig(answer, 'data', 'currency') !== 'USDC') throw new Error('coinbase answered for another currency');
      return collect('coinbase', codes, (code) => exact(dig(answer, 'data', 'rates', code)));
    },
  };
}

/** Kraken trades USDC against these. Requesting a pair it does not know fails the whole call. */
const krakenCodes = ['USD', 'EUR', 'GBP', 'CAD', 'AUD', 'CHF'];

/** `{"error":[],"result":{"USDCEUR":{"a":["<ask>", …],"b":["<bid>", …], …}}}`: the mid-price of ask and bid. */
function kraken(base: string): RateSource {
  return {
    name: 'kraken',
    async fetchRates(codes, signal) {
      const wanted = krakenCodes.filter((code) => codes.includes(code));
      if (wanted.length === 0) return new Map();
      const pairs = wanted.map((code) => `USDC${code}`).join(',');
      const answer = await fetchExactJson(new URL(`/0/public/Ticker?pair=${pairs}`, base), signal);
      const faults = dig(answer, 'error');
      if (!Array.isArray(faults) || faults.length > 0) throw new Error(`kraken answered ${JSON.stringify(faults)}`);
      return collect('kraken', wanted, (code) => {
        const ticker = dig(answer, 'result', `USDC${code}`);
        return middle(dig(ticker, 'a', 0), dig(ticker, 'b', 0));
      });
    },
  };
}

/** `{"usd-coin":{"eur":0.92, …}}`; unknown currencies are missing from the response. */
function coingecko(base: string): RateSource {
  return {
    name: 'coingecko',
    async fetchRates(codes, signal) {
      const url = new URL('/api/v3/simple/price?ids=usd-coin&precision=full', base);
      url.searchParams.set('vs_currencies', codes.join(',').toLowerCase());
      const answer = await fetchExactJson(url, signal);
      return collect('coingecko', codes, (code) => exact(dig(answer, 'usd-coin', code.toLowerCase())));
    },
  };
}

const bitstampCodes = ['USD', 'EUR'];

/** One document per pair: `{"ask":"0.9201","bid":"0.9199", …}`: the mid-price of the two. */
function bitstamp(base: string): RateSource {
  return {
    name: 'bitstamp',
    async fetchRates(codes, signal) {
      const wanted = bitstampCodes.filter((code) => codes.includes(code));
      const tickers = await Promise.all(
        wanted.map((code) => fetchExactJson(new URL(`/api/v2/ticker/usdc${code.toLowerCase()}/`, base), signal)),
      );
      return collect('bitstamp', wanted, (code) => {
        const ticker = tickers[wanted.indexOf(code)];
        return middle(dig(ticker, 'ask'), dig(ticker, 'bid'));
      });
    },
  };
}

function exact(value: unknown): string | null {
  return typeof value === 'string' ? toDecimal(value) : null;
}

function middle(ask: unknown, bid: unknown): string | null {
  const high = exact(ask);
  const low = exact(bid);
  return high && low && middleOf(high, low);
}

/** The rates that can be read. If there are none although some were wanted, the source has changed its format. */
function collect(name: string, codes: readonly string[], read: (code: string) => string | null): Map<string, string> {
  const rates = new Map<string, string>();
  for (const code of codes) {
    const rate = read(code);
    if (rate) rates.set(code, rate);
  }
  if (codes.length > 0 && rates.size === 0) throw new Error(`${name} answered without a readable rate`);
  return rates;
}
