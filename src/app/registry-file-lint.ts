/**
 * Lints a file that the service might refuse: what is refused becomes a finding, and the rest is looked at as if it
 * were registered.
 */
import type { LintFinding } from '../contract/index.ts';
import { lintName, lintRegistry, type ReportProgress, sortedFindings } from '../routing/index.ts';
import type { Substitutes } from './compose.ts';
import { openOfflineService } from './offline-service.ts';

export interface LintFileRequest {
  readonly registrations: readonly Readonly<Record<string, unknown>>[];
  readonly rules: readonly Readonly<Record<string, unknown>>[];
  readonly minSimilarity: number;
  readonly onProgress?: ReportProgress;
  readonly onDone?: (done: number, total: number) => void;
}

/** Errors: those of a rule. */
export async function lintFile(request: LintFileRequest, substitutes: Substitutes = {}): Promise<LintFinding[]> {
  const findings: LintFinding[] = [];
  const { registrations } = request;
  const names = registrations.flatMap((one) => listOf(one.capabilities).flatMap((raw) => nameOf(raw) ?? []));
  const usable = registrations.map((one) => withoutBadNames(one, names, findings));
  // A registration of bad names alone has been reported; its place is kept for the others' sake.
  const kept = usable.filter((one) => one !== undefined);
  const source = await openOfflineService(
    {
      registrations: kept,
      rules: request.rules,
      isIndexBuilt: false,
      onRefused(place, error) {
        const registration = kept[place - 1];
        const agentId = registration?.agentId ?? registration?.agent_id;
        const message = `${typeof agentId === 'string' ? `agent ${agentId}` : 'an agent'}: ${error.message}`;
        const namespace = namespaceOf(registration);
        findings.push({ level: 'error', code: 'invalid_registration', namespace, capability: null, message });
      },
      ...(request.onProgress === undefined ? {} : { onProgress: request.onProgress }),
    },
    substitutes,
  );
  try {
    const ledTo = request.rules.flatMap(({ capability }) => (typeof capability === 'string' ? capability : []));
    const more = await lintRegistry(source, {
      ruledCapabilities: new Set(ledTo),
      minSimilarity: request.minSimilarity,
      ...(request.onDone === undefined ? {} : { onDone: request.onDone }),
    });
    return sortedFindings([...findings, ...more]);
  } finally {
    await source.close();
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function nameOf(raw: unknown): string | undefined {
  const name = typeof raw === 'object' && raw !== null && 'name' in raw ? raw.name : raw;
  return typeof name === 'string' ? name : undefined;
}

function namespaceOf(registration: Readonly<Record<string, unknown>> | undefined): string {
  return typeof registration?.namespace === 'string' ? registration.namespace : 'default';
}

function withoutBadNames(
  registration: Readonly<Record<string, unknown>>,
  names: readonly string[],
  findings: LintFinding[],
): Readonly<Record<string, unknown>> | undefined {
  const given = listOf(registration.capabilities);
  const capabilities = given.filter((raw) => {
    const name = nameOf(raw);
    const finding = name === undefined ? undefined : lintName(name, namespaceOf(registration), names);
    if (finding !== undefined) findings.push(finding);
    return finding === undefined;
  });
  if (given.length > 0 && capabilities.length === 0) return undefined;
  return { ...registration, capabilities };
}
