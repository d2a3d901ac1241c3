/** Where the browser blocks what a page stores, nothing is kept, and everything else works. */
const nowhere: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
  getItem: () => null,
  setItem: () => {},
  removeItem: () => {},
};

function open(name: 'sessionStorage' | 'localStorage'): typeof nowhere {
  try {
    return window[name];
  } catch {
    return nowhere;
  }
}

/** Kept until the tab is closed. */
export const tabStorage = open('sessionStorage');
/** Shared by all tabs, and kept until it is removed. */
export const browserStorage = open('localStorage');
