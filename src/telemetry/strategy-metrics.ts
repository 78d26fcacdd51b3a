/** Metrics of the strategies: what became of each reload, and what is in force. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { subscribe } from '../core/index.ts';
import { METRIC, RELOAD_RESULTS } from './attributes.ts';

export function measureStrategies(registry: Registry): () => void {
  const registers = [registry];
  const reloads = new Counter({
    name: METRIC.strategyReloads,
    help: 'Strategies read or put, by what became of them; refused ones leave those before in force.',
    labelNames: ['result'],
    registers,
  });
  for (const result of RELOAD_RESULTS) reloads.inc({ result }, 0);
  const info = new Gauge({
    name: METRIC.strategiesVersion,
    help: 'Always 1; the strategies in force, and where they come from.',
    labelNames: ['version', 'source'],
    registers,
  });
  return subscribe('strategies.reloaded', ({ result, version, source }) => {
    reloads.inc({ result });
    info.reset();
    info.set({ version, source }, 1);
  });
}
