/** Metrics of the exact rules and of the audit log. Labels are outcomes, never rule ids, so that series stay bounded. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { subscribe } from '../core/index.ts';
import { METRIC } from './attributes.ts';

export type RuleCounts = () => { readonly count: number; readonly regexSteps: number; readonly version: number };

export function measureRules(registry: Registry, counts: RuleCounts | undefined): () => void {
  const registers = [registry];
  const evaluations = new Counter({
    name: METRIC.ruleEvaluations,
    help: 'Intents held against the rules, by outcome; answers from the cache of meanings are not held again.',
    labelNames: ['outcome'],
    registers,
  });
  const tried = new Counter({
    name: METRIC.rulesTried,
    help: 'Rules looked at closely in all evaluations: those with a text pattern found, and regexes.',
    registers,
  });
  const audited = new Counter({
    name: METRIC.auditRecords,
    help: 'Stored decisions about sensitive capabilities.',
    labelNames: ['outcome'],
    registers,
  });
  for (const [name, help, key] of [
    [METRIC.rules, 'Rules in force.', 'count'],
    [METRIC.ruleRegexSteps, 'Steps of all compiled regexes.', 'regexSteps'],
    [METRIC.rulesVersion, 'Number of the rule set; rises with each edit.', 'version'],
  ] as const) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        if (counts !== undefined) this.set(counts()[key]);
      },
    });
  }
  const stopRules = subscribe('rules.evaluated', (event) => {
    evaluations.inc({ outcome: event.outcome });
    tried.inc(event.tried);
  });
  const stopAudit = subscribe('audit.recorded', ({ outcome }) => audited.inc({ outcome }));
  return () => {
    stopRules();
    stopAudit();
  };
}
