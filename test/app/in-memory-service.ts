/** The whole service with real HTTP, over a store in memory and an embedder without a model: starts in milliseconds. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileConfig, type RunningService, startService } from '../../src/app/index.ts';
import { HashEmbedder } from '../../src/embedding/index.ts';
import { MemoryStore } from '../../src/storage/index.ts';

export interface InMemoryService {
  readonly url: string;
  readonly service: RunningService;
  stop(): Promise<void>;
}

/** Index versions are made on command only, so that what a test lists stays as it was. */
export async function startInMemoryService(): Promise<InMemoryService> {
  const dir = mkdtempSync(join(tmpdir(), 'agent-reach-memory-'));
  const config = compileConfig({
    http: { port: 0 },
    data: { dir },
    log: { level: 'silent' },
    index: { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 },
  });
  const service = await startService(config, { store: new MemoryStore(), embedder: new HashEmbedder() });
  return {
    url: service.url,
    service,
    async stop() {
      await service.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
