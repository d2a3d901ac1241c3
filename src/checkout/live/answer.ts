import { fragmentsOf, payPageTitle } from '../page.ts';
import type { Checkout } from '../read.ts';
import { isOver, payable } from '../state.ts';

/** The answer to browser code: the page's fragments with their versions, so that only changed ones are replaced. */
export function liveAnswer(checkout: Checkout): object {
  return {
    kind: checkout.state.kind,
    over: isOver(checkout.state),
    title: payPageTitle(checkout),
    parts: fragmentsOf(checkout),
  };
}

/** Whether nothing was paid yet, so that payments sent by mistake are looked for. */
export const waitsForMoney = ({ state }: Checkout): boolean => payable(state) === 'whole';
