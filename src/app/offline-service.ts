/**
 * The whole pipeline in this process, over a store that is forgotten: for evaluating and linting a registry file
 * before anybody serves it. Real model, real index version, no HTTP; nothing is left on disk.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CapabilityView,
  type Registration,
  readOlderRegistration,
  registrationSchema,
  routeRequestSchema,
  ruleSchema,
} from '../contract/index.ts';
import { AgentReachError, errorText, isAgentReachError } from '../core/index.ts';
import type { ReportProgress, RouteSource } from '../routing/index.ts';
import { MemoryStore } from '../storage/index.ts';
import { compose, type Parts, type Substitutes } from './compose.ts';
import { compileConfig } from './config.ts';

export interface OfflineService extends RouteSource {
  close(): Promise<void>;
}

export interface OfflineRequest {
  /** As they would be sent to the service; older spellings are read too. */
  readonly registrations: readonly unknown[];
  readonly rules?: readonly unknown[];
  /** Takes a refused registration (place from 1) instead of the refusal ending the start. */
  readonly onRefused?: (place: number, error: AgentReachError) => void;
  readonly onProgress?: ReportProgress;
  /** Default true: routes go over an index version, as in a service; else over the exact scan, which costs no build. */
  readonly isIndexBuilt?: boolean;
}

const IN_FLIGHT = 16;
const PAGE = 500;
const CALLER = { requestId: 'offline', scopes: new Set(['*']) };
/** Nothing is rebuilt but once, when all is registered. */
const NEVER = { rebuildDebounceMs: 0, rebuildMaxWaitMs: 0 };

/** Errors: those of a registration or a rule, with the place; AR_ERR_INDEX_SELF_CHECK. Nothing is left running then. */
export async function openOfflineService(
  request: OfflineRequest,
  substitutes: Substitutes = {},
): Promise<OfflineService> {
  const dir = await mkdtemp(join(tmpdir(), 'agent-reach-offline-'));
  const config = compileConfig({ data: { dir }, index: NEVER, log: { level: 'silent' } });
  let parts: Parts | undefined;
  const close = async (): Promise<void> => {
    await parts?.feedback.stop();
    parts?.audit.stop();
    await parts?.registry.stop();
    await parts?.index.stop();
    parts?.indexer.stop();
    await parts?.embedder.stop();
    await parts?.store.close();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    parts = await compose(config, { store: new MemoryStore(), ...substitutes });
    await parts.audit.start();
    const modelStarted = parts.embedder.start();
    await parts.indexer.start();
    await modelStarted;
    await putRules(parts, request.rules ?? []);
    await registerAll(parts, request);
    if (request.isIndexBuilt !== false && parts.indexer.textCount > 0) {
      await parts.index.rebuild({ by: 'offline', why: 'evaluation' });
    }
    return { ...sourceOf(parts), close };
  } catch (error) {
    await close();
    throw error;
  }
}

function sourceOf({ router, registry }: Parts): RouteSource {
  return {
    route: (request) => router.route(routeRequestSchema.parse(request), CALLER),
    routeBatch: (requests) =>
      router.routeBatch(
        requests.map((request) => routeRequestSchema.parse(request)),
        CALLER,
      ),
    async capabilities() {
      const views: CapabilityView[] = [];
      let cursor: string | null = null;
      do {
        const page = registry.capabilities({ limit: PAGE, ...(cursor === null ? {} : { cursor }) });
        views.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return views;
    },
  };
}

async function registerAll({ registry }: Parts, { registrations, onRefused, onProgress }: OfflineRequest) {
  const waiting = registrations.entries();
  let done = 0;
  const work = async (): Promise<void> => {
    for (const [index, raw] of waiting) {
      try {
        await registry.register(readRegistration(raw));
      } catch (error) {
        const placed = atPlace(error, `registration ${index + 1}`);
        if (onRefused === undefined || !isAgentReachError(placed)) throw placed;
        onRefused(index + 1, placed);
      }
      done += 1;
      onProgress?.(done, registrations.length, 'registered');
    }
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, registrations.length) }, work));
}

function readRegistration(raw: unknown): Registration {
  const parsed = registrationSchema.safeParse(readOlderRegistration(raw));
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues);
}

async function putRules({ rules }: Parts, given: readonly unknown[]): Promise<void> {
  for (const [index, raw] of given.entries()) {
    try {
      const parsed = ruleSchema.safeParse(raw);
      if (!parsed.success) throw invalid(parsed.error.issues);
      await rules.put(parsed.data, { by: 'offline' });
    } catch (error) {
      throw atPlace(error, `rule ${index + 1}`);
    }
  }
}

function invalid(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]) {
  const list = issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const [first] = list;
  return new AgentReachError('AR_ERR_INVALID_REQUEST', {
    detail: first === undefined ? '' : `${first.path}: ${first.message}`,
    issues: list,
  });
}

function atPlace(error: unknown, place: string): unknown {
  if (!isAgentReachError(error)) return error;
  return new AgentReachError(error.code, {
    detail: `${place}: ${errorText(error)}`,
    issues: error.issues.map(({ path, message }) => ({ path: `${place}.${path}`, message })),
    suggestions: error.suggestions,
    cause: error,
  });
}
