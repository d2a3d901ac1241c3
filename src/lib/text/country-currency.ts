/** ISO 4217 currencies with the countries (ISO 3166-1) that use them: those whose currency is in wide use. */
const countriesOf: Record<string, string> = {
  EUR: 'AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA XK YT',
  USD: 'AS BQ EC FM GU IO MH MP PR PW SV TC TL UM US VG VI',
  ...{ GBP: 'GB GG IM JE', CHF: 'CH LI', AUD: 'AU CC CX HM KI NF NR TV', NZD: 'CK NU NZ PN TK', NOK: 'BV NO SJ' },
  ...{ DKK: 'DK FO GL', SEK: 'SE', ISK: 'IS', PLN: 'PL', CZK: 'CZ', HUF: 'HU', RON: 'RO', RSD: 'RS', UAH: 'UA' },
  ...{
    TRY: 'TR',
    ILS: 'IL PS',
    AED: 'AE',
    SAR: 'SA',
    QAR: 'QA',
    KWD: 'KW',
    BHD: 'BH',
    OMR: 'OM',
    JOD: 'JO',
    EGP: 'EG',
  },
  ...{ MAD: 'EH MA', TND: 'TN', ZAR: 'ZA', NGN: 'NG', KES: 'KE', GHS: 'GH', TZS: 'TZ', UGX: 'UG' },
  XOF: 'BF BJ CI GW ML NE SN TG',
  XAF: 'CF CG CM GA GQ TD',
  ...{ INR: 'IN', PKR: 'PK', BDT: 'BD', LKR: 'LK', NPR: 'NP', IDR: 'ID', MYR: 'MY', SGD: 'SG', THB: 'TH', VND: 'VN' },
  ...{ PHP: 'PH', JPY: 'JP', KRW: 'KR', CNY: 'CN', HKD: 'HK', TWD: 'TW', MOP: 'MO', KZT: 'KZ', GEL: 'GE', AMD: 'AM' },
  ...{ CAD: 'CA', MXN: 'MX', BRL: 'BR', ARS: 'AR', CLP: 'CL', COP: 'CO', PEN: 'PE', UYU: 'UY', PYG: 'PY', BOB: 'BO' },
  ...{ CRC: 'CR', GTQ: 'GT', HNL: 'HN', NIO: 'NI', DOP: 'DO', JMD: 'JM', TTD: 'TT' },
};

/** The currency that people of a country pay with; undefined for countries that are not listed. */
export function currencyOfCountry(country: string): string | undefined {
  return Object.keys(countriesOf).find((code) => countriesOf[code]?.split(' ').includes(country.toUpperCase()));
}

/** The country of the first language of an `Accept-Language` header that names one: `DE` of `de-DE, en;q=0.8`. */
export function acceptedCountry(header: string): string | undefined {
  return /(?:^|[,\s])[a-z]{2,3}(?:-[A-Z][a-z]{3})?-([A-Z]{2})\b/.exec(header.slice(0, 500))?.[1];
}
