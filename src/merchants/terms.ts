/** The terms a merchant accepts. A change of the text takes a new version; each merchant keeps the version it accepted. */
export const terms = {
  version: '1',
  sections: [
    {
      title: 'What you get',
      text: 'Customers pay you in stablecoins, straight into your own wallet. We create the payment page, watch the chain, and tell you and the partner who invited you when a payment is final. We never hold your money and cannot move it.',
    },
    {
      title: 'Your wallet',
      text: 'You control the wallet you sign with, and keep its keys or its recovery safe. Nobody can bring back a payment that was made to a wallet whose keys are lost. A wallet belongs to one merchant only.',
    },
    {
      title: 'Payments',
      text: 'A payment on a chain cannot be reversed by us. Refunds are between you and your customer. The price in stablecoins is fixed when a request is created, at the exchange rate of that moment.',
    },
    {
      title: 'Your duties',
      text: 'You sell only what is legal where you and your customers are, you pay your taxes, and what you tell us about yourself is true. You are not subject to sanctions.',
    },
    {
      title: 'What is stored',
      text: 'We store the details you give, your wallet address, and the requests and payments made to it. The partner who invited you sees them. When you accept, we keep the version of these terms, the time and your internet address.',
    },
    {
      title: 'Ending',
      text: 'You may stop at any time. The partner or we may stop new requests; money already paid stays yours, as it was always in your wallet.',
    },
  ],
} as const;
