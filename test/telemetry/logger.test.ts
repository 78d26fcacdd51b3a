import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { log, publish } from '../../src/core/index.ts';
import { type LogLevel, startLogger } from '../../src/telemetry/index.ts';

function capture(level: LogLevel): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  onTestFinished(startLogger({ level, version: '1.2.3', stream }));
  return lines;
}

describe('the logger', () => {
  it('writes one JSON line an event with its fields', () => {
    const lines = capture('info');
    log('warn', 'the store is slow', { waitedMs: 12 });
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'the store is slow', waitedMs: 12, service: 'agent-reach', serviceVersion: '1.2.3' },
    ]);
  });

  it('writes nothing under its level', () => {
    const lines = capture('warn');
    log('debug', 'a');
    log('info', 'b');
    publish('http.request', { method: 'GET', route: '/', status: 200, durationMs: 1 });
    log('error', 'c');
    expect(lines.map((one) => one.msg)).toEqual(['c']);
  });

  it('redacts secrets at the top and one level down', () => {
    const lines = capture('info');
    const secrets = { apiKey: 's3cret', authorization: 's3cret', leaseId: 's3cret', 'x-api-key': 's3cret' };
    log('info', 'call', { ...secrets, headers: secrets, agentId: 'weather-1' });
    expect(JSON.stringify(lines)).not.toContain('s3cret');
    expect(lines).toMatchObject([{ agentId: 'weather-1', apiKey: '[redacted]' }]);
  });

  it('says cause and effect when the model or an index build fails', () => {
    const lines = capture('info');
    publish('embedding.state', { state: 'degraded', reason: 'the worker left' });
    publish('index.failed', { why: 'asked', reason: 'recall 0.91' });
    expect(lines).toMatchObject([
      { level: 'warn', reason: 'the worker left', msg: expect.stringContaining('routing by words') },
      { level: 'warn', reason: 'recall 0.91', msg: expect.stringContaining('the old version serves on') },
    ]);
  });

  it('stops listening', () => {
    const lines: string[] = [];
    const stop = startLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } });
    stop();
    log('error', 'late');
    expect(lines).toEqual([]);
  });

  // Linux has a device that is always full.
  it.skipIf(process.platform !== 'linux')('costs the service nothing where stderr is a full disk', async () => {
    const source = (room: string): string => fileURLToPath(new URL(`../../src/${room}/index.ts`, import.meta.url));
    const script = `
      const { startLogger } = await import(${JSON.stringify(source('telemetry'))});
      const { log } = await import(${JSON.stringify(source('core'))});
      startLogger({ level: 'info' });
      for (let i = 0; i < 3; i++) log('info', 'a line');
      setImmediate(() => process.exit(7));`;
    const full = openSync('/dev/full', 'w');
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', full] });
    closeSync(full);
    expect(await once(child, 'exit')).toEqual([7, null]);
  });
});
