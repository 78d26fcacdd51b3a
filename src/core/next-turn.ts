/** Lets everything that waits on the event loop run first: long work calls it between slices of about a millisecond. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
