import { Counter, type Registry } from 'prom-client';

/** A counter for the hot path: counts under a ready-made key, and tells prom-client when somebody scrapes. */
export function tallyCounter(options: {
  readonly name: string;
  readonly help: string;
  readonly labelNames: string[];
  readonly registers: Registry[];
}): (key: string, labels: () => Record<string, string>) => void {
  const tallies = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  new Counter({
    ...options,
    collect() {
      for (const tally of tallies.values()) {
        this.inc(tally.labels, tally.count);
        tally.count = 0;
      }
    },
  });
  return (key, labels) => {
    const tally = tallies.get(key);
    if (tally === undefined) tallies.set(key, { labels: labels(), count: 1 });
    else tally.count++;
  };
}
