/** Which decisions go into the audit log: all that touch a sensitive capability, reached or not. */
import type { AuditEntry } from '../rules/index.ts';
import { isSensitive } from './meaning.ts';
import type { DecidedRoute } from './router.ts';

type Indexer = Parameters<typeof isSensitive>[0];

interface About {
  readonly keyId: string;
  readonly rulesVersion: number;
  readonly indexer: Indexer;
}

/** One record for each intent that meant a sensitive capability. */
export function auditEntriesOf(decided: DecidedRoute, about: About): AuditEntry[] {
  const intents = [decided, ...decided.parts.map((part) => ({ ...decided, ...part }))];
  return intents.flatMap((one) => auditEntryOf(one, about) ?? []);
}

/** Undefined where no sensitive capability was meant. */
function auditEntryOf(decided: DecidedRoute, about: About): AuditEntry | undefined {
  const { aim, meaning, verdict, request } = decided;
  const touched = touchedBy(decided, about.indexer);
  if (touched === undefined) return undefined;
  return {
    requestId: decided.requestId,
    keyId: about.keyId,
    namespace: request.namespace,
    ...touched,
    decision: verdict.decision,
    agentId: decided.selection?.chosen.agent.record.agentId ?? null,
    matchedBy: meaning.kind === 'named' ? meaning.matchedBy : null,
    ruleId: aim.ruleId,
    rulesVersion: about.rulesVersion,
    intent: decided.canonical,
    ...(request.probe === true ? { probe: true as const } : {}),
  };
}

function touchedBy(
  { meaning, aim, request }: DecidedRoute,
  indexer: Indexer,
): Pick<AuditEntry, 'capability' | 'outcome'> | undefined {
  if (meaning.kind === 'named') {
    if (!isSensitive(indexer, request.namespace, meaning.name)) return undefined;
    return { capability: meaning.name, outcome: aim.reason === 'scope_required' ? 'scope_required' : 'reached' };
  }
  const best = aim.recalled[0];
  if (aim.reason !== 'sensitive_requires_rule' || best === undefined) return undefined;
  return { capability: best.name, outcome: 'near_miss' };
}
