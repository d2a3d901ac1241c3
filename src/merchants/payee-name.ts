/** The name under which customers know whoever they pay: the merchant's or, if it has none, its partner's. */
export const payeeName = (row: { merchant_name: string | null; partner_name: string }): string =>
  row.merchant_name ?? row.partner_name;
