/**
 * What an author should know of a registry before callers find out. Errors make routing wrong or impossible,
 * warnings make it worse than it need be. Texts are compared by the routes themselves.
 */
import { checkCapabilityName, nearDuplicateNames, suggestNames } from '../../capability/index.ts';
import type { CapabilityView, LintFinding } from '../../contract/index.ts';
import { canonicalText } from '../../core/index.ts';
import { probeCapabilities } from './capability-probe.ts';
import type { RouteSource } from './route-source.ts';

export interface LintOptions {
  /** Names that some rule leads to. */
  readonly ruledCapabilities: ReadonlySet<string>;
  readonly minSimilarity: number;
  readonly onDone?: (done: number, total: number) => void;
}

/** Errors first, then by capability. */
export async function lintRegistry(source: RouteSource, options: LintOptions): Promise<LintFinding[]> {
  const views = (await source.capabilities()).filter((view) => view.agents > 0 && view.status !== 'deprecated');
  const findings = [
    ...views.flatMap((view) => lintView(view, options.ruledCapabilities)),
    ...[...byNamespace(views).values()].flatMap((group) => [...lintShared(group), ...lintNames(group)]),
    ...(await lintTexts(source, views, options)),
  ];
  return sortedFindings(findings);
}

export function sortedFindings(findings: readonly LintFinding[]): LintFinding[] {
  const keyOf = ({ level, capability, code }: LintFinding): string => `${level} ${capability ?? ''} ${code}`;
  return findings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** The names of a file before anything is registered: undefined where all of them fit the grammar. */
export function lintName(raw: string, namespace: string, others: readonly string[]): LintFinding | undefined {
  const check = checkCapabilityName(raw);
  if (check.ok) return undefined;
  const near = suggestNames(
    raw,
    others.filter((other) => other !== raw && checkCapabilityName(other).ok),
  );
  const hint = near.length === 0 ? '' : `; did you mean ${near.join(', ')}?`;
  return {
    level: 'error',
    code: 'invalid_name',
    namespace,
    capability: raw,
    message: `"${raw}" ${check.problem}${hint}`,
  };
}

function lintView(view: CapabilityView, ruled: ReadonlySet<string>): LintFinding[] {
  const { name: capability, namespace, sensitive } = view;
  const warning = (code: LintFinding['code'], message: string): LintFinding => {
    return { level: 'warning', code, namespace, capability, message };
  };
  const findings: LintFinding[] = [];
  if (view.descriptions.length === 0) {
    findings.push(warning('missing_description', 'has no description: only its name says what it does'));
  }
  if (view.examples.length === 0) {
    findings.push(warning('missing_examples', 'has no examples: a few texts that callers really say help most'));
  }
  if (sensitive && !ruled.has(capability)) {
    findings.push(
      warning('sensitive_without_rule', 'is sensitive and no rule leads to it: it is reached by its exact name only'),
    );
  }
  return findings;
}

/** Aliases and examples that lead to two capabilities. */
function lintShared(views: readonly CapabilityView[]): LintFinding[] {
  const findings: LintFinding[] = [];
  const names = new Set(views.map((view) => view.name));
  const aliases = new Map<string, CapabilityView>();
  const examples = new Map<string, CapabilityView>();
  for (const view of views) {
    const error = (code: LintFinding['code'], message: string): void => {
      findings.push({ level: 'error', code, namespace: view.namespace, capability: view.name, message });
    };
    for (const alias of view.aliases) {
      const canonical = canonicalText(alias);
      const owner = aliases.get(canonical);
      if (names.has(canonical) && canonical !== view.name) {
        error('alias_claims_name', `its alias "${alias}" is the name of another capability`);
      } else if (owner !== undefined) {
        error('shared_alias', `its alias "${alias}" is one of ${owner.name} too, so it leads to neither`);
      } else aliases.set(canonical, view);
    }
    for (const example of view.examples) {
      const owner = examples.get(canonicalText(example));
      if (owner === undefined) examples.set(canonicalText(example), view);
      else error('duplicate_example', `its example "${example}" is one of ${owner.name} too`);
    }
  }
  return findings;
}

function lintNames(views: readonly CapabilityView[]): LintFinding[] {
  const names = views.map((view) => view.name);
  return views.flatMap(({ name, namespace }) =>
    nearDuplicateNames(name, names)
      .filter((other) => name < other)
      .map((other) => ({
        level: 'warning' as const,
        code: 'near_duplicate_name' as const,
        namespace,
        capability: name,
        message: `is nearly the same name as ${other}; if they mean the same, use one of them`,
      })),
  );
}

async function lintTexts(
  source: RouteSource,
  views: readonly CapabilityView[],
  { minSimilarity, onDone }: LintOptions,
): Promise<LintFinding[]> {
  const probed = await probeCapabilities(source, views, {
    minSimilarity,
    ...(onDone === undefined ? {} : { onDone }),
  });
  const alike = probed.nearDuplicates.map(({ namespace, capability, other, similarity, text, otherText }) => ({
    level: 'warning' as const,
    code: 'near_duplicate_text' as const,
    namespace,
    capability,
    message: `"${text}" is ${similarity.toFixed(2)} like ${other}: "${otherText}"`,
  }));
  const lost = probed.unreachable.map(({ namespace, capability, foundInstead }) => ({
    level: 'warning' as const,
    code: 'unreachable' as const,
    namespace,
    capability,
    message: `is found first by none of its own texts; ${foundInstead} is`,
  }));
  return [...alike, ...lost];
}

function byNamespace(views: readonly CapabilityView[]): Map<string, CapabilityView[]> {
  const groups = new Map<string, CapabilityView[]>();
  for (const view of views) groups.set(view.namespace, [...(groups.get(view.namespace) ?? []), view]);
  return groups;
}
