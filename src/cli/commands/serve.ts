/**
 * `agent-reach serve`: runs the service until SIGTERM or SIGINT. The first signal lets running requests end and
 * flushes the store; a second one exits at once. SIGHUP reads the strategies file again. The address is printed once
 * the service takes requests.
 */
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import type { Config, RunningService } from '../../app/index.ts';
import { errorText, systemClock } from '../../core/index.ts';
import { ConsoleOutput } from '../console-output.ts';
import { EXIT } from '../exit-codes.ts';
import type { Program } from '../program.ts';
import { addServiceFlags, configOf } from '../service-flags.ts';

/** For flushing the store and the index after the last request ended. */
const FLUSH_MS = 1_500;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export function addServeCommand(program: Program): void {
  addServiceFlags(program.command('serve').description('run the service until it is told to stop')).action(
    async (flags, command) => {
      const output = new ConsoleOutput({ isJson: command.optsWithGlobals().json === true, isOneLine: true });
      await serve(await configOf(flags), output);
    },
  );
}

async function serve(config: Config, output: ConsoleOutput): Promise<void> {
  // Listening before the start: a signal while the model loads must not kill half a start.
  const stopSignal = firstSignal(output, config.http.stopTimeoutMs + FLUSH_MS);
  const hangups = onHangup(output);
  const { startService } = await import('../../app/index.ts');
  const stopping = new AbortController();
  void stopSignal.then(() => stopping.abort());
  const service = await startService(config, {}, stopping.signal);
  hangups.serves(service);
  const { url } = service;
  output.answer({ url, host: service.host, port: service.port, dataDir: config.data.dir }, () =>
    output.line(`agent-reach is ready at ${url} (data in ${config.data.dir})`),
  );
  await stopSignal;
  await service.stop();
  if (hangups.isTerminalGone()) {
    // Node aborts where it exits without the terminal that it started with; the signal by itself ends it cleanly.
    process.removeAllListeners('SIGHUP');
    process.kill(process.pid, 'SIGHUP');
    return;
  }
  // Worker threads or sockets that some library still holds must not keep a stopped service alive.
  process.exit(EXIT.ok);
}

interface Hangups {
  /** From now on there is something to read again. */
  serves(service: RunningService): void;
  isTerminalGone(): boolean;
}

/** A terminal that closes sends SIGHUP too, and then it means the end; what was a terminal is none afterwards. */
function onHangup(output: ConsoleOutput): Hangups {
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor));
  const isTerminalGone = (): boolean => !terminals.every((descriptor) => isatty(descriptor));
  let running: RunningService | undefined;
  process.on('SIGHUP', () => {
    if (isTerminalGone()) {
      process.kill(process.pid, 'SIGTERM');
      return;
    }
    running?.parts.strategies.reload('signal').then(
      (result) => output.note(`SIGHUP: strategies file ${result}`),
      (error: unknown) => output.note(`SIGHUP: ${errorText(error)}`),
    );
  });
  return {
    isTerminalGone,
    serves(service) {
      running = service;
    },
  };
}

/** After the first signal the process has `limitMs` to end by itself. */
function firstSignal(output: ConsoleOutput, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        // The status that a shell expects of a signal: 128 + its number.
        if (isStopping) process.exit(128 + constants.signals[signal]);
        isStopping = true;
        output.note(`${signal}: stopping; a second signal exits at once`);
        systemClock.schedule(limitMs, () => {
          output.note(`not stopped after ${limitMs} ms: exiting with work unfinished`);
          process.exit(EXIT.failed);
        });
        resolve();
      });
    }
  });
}
