/** Whether a series of samples grows: a straight line through the floors of its windows, and how sure that line is. */
export interface Slope {
  readonly mean: number;
  readonly perHour: number;
  /** Of `perHour`; two of them either way hold 95 %. */
  readonly standardError: number;
}

export interface Sample {
  readonly seconds: number;
  readonly value: number;
}

/** The least of each window: a heap is a saw whose floor is what is kept. */
export function floorsOf(samples: readonly Sample[], windows: number): Sample[] {
  const size = samples.length / windows;
  return Array.from({ length: windows }, (_, i) => samples.slice(Math.floor(i * size), Math.floor((i + 1) * size)))
    .filter((window) => window.length > 0)
    .map((window) => window.reduce((least, one) => (one.value < least.value ? one : least)));
}

export function slopeOf(samples: readonly Sample[]): Slope {
  const count = samples.length;
  const meanOf = (pick: (one: Sample) => number): number => samples.reduce((sum, one) => sum + pick(one), 0) / count;
  const at = meanOf(({ seconds }) => seconds);
  const mean = meanOf(({ value }) => value);
  const spread = samples.reduce((sum, { seconds }) => sum + (seconds - at) ** 2, 0);
  const perSecond = samples.reduce((sum, { seconds, value }) => sum + (seconds - at) * (value - mean), 0) / spread;
  const left = samples.reduce((sum, { seconds, value }) => sum + (value - mean - perSecond * (seconds - at)) ** 2, 0);
  const standardError = count < 3 ? Number.POSITIVE_INFINITY : Math.sqrt(left / (count - 2) / spread);
  return { mean, perHour: perSecond * 3_600, standardError: standardError * 3_600 };
}
