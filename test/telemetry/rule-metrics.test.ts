import { expect, it } from 'vitest';
import { publish } from '../../src/core/index.ts';
import { startMetrics } from '../../src/telemetry/index.ts';

it('counts evaluations, rules looked at and audit records by outcome, and shows the set in force', async () => {
  const metrics = startMetrics({
    defaults: false,
    collectors: { rules: () => ({ count: 12, regexSteps: 340, version: 7 }) },
  });
  publish('rules.evaluated', { tried: 3, outcome: 'capability' });
  publish('rules.evaluated', { tried: 1, outcome: 'none' });
  publish('audit.recorded', { outcome: 'scope_required' });
  const text = await metrics.text();
  metrics.stop();
  for (const line of [
    'agent_reach_rule_evaluations_total{outcome="capability"} 1',
    'agent_reach_rule_evaluations_total{outcome="none"} 1',
    'agent_reach_rules_tried_total 4',
    'agent_reach_audit_records_total{outcome="scope_required"} 1',
    'agent_reach_rules 12',
    'agent_reach_rule_regex_steps 340',
    'agent_reach_rules_version 7',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});
