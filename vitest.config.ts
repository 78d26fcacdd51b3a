import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Native addons (onnxruntime, hnswlib, lmdb) want a process each, not a thread.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // A second is little for processes on a busy machine.
    expect: { poll: { timeout: 5_000 } },
  },
});
