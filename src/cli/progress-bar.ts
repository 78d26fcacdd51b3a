/** A bar on stderr for people at a terminal; without one every call does nothing and loads nothing. */
import type { SingleBar } from 'cli-progress';
import type { ConsoleOutput } from './console-output.ts';

export interface ProgressBar {
  update(done: number, total: number, label: string): void;
  /** Takes the bar off the screen; must be called before anything else is written. */
  end(): void;
}

const SILENT: ProgressBar = { update: () => {}, end: () => {} };

export async function openProgressBar(output: ConsoleOutput): Promise<ProgressBar> {
  if (!output.isBarShown) return SILENT;
  const { default: cliProgress } = await import('cli-progress');
  const bar: SingleBar = new cliProgress.SingleBar(
    { format: '{bar} {percentage}% {value}/{total} {label}', clearOnComplete: true, hideCursor: true, fps: 10 },
    cliProgress.Presets.shades_classic,
  );
  let isStarted = false;
  return {
    update(done, total, label) {
      if (!isStarted) bar.start(total, done, { label });
      isStarted = true;
      bar.setTotal(total);
      bar.update(done, { label });
    },
    end() {
      if (isStarted) bar.stop();
    },
  };
}
