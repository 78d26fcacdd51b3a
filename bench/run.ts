/**
 * `npm run bench [part of a case's name ...]`: every case, or those named, one after the other; prints what it found
 * and leaves bench/results/bench.{json,md}. Under 20 minutes for all, five of them for 100,000 capabilities; nothing
 * else should run on the machine. BENCH_QUICK=1: small sizes, to see that each case runs; leaves no report.
 */
import { clusterCase } from './cases/cluster.ts';
import { heartbeatsCase } from './cases/heartbeats.ts';
import { coldCase, hitCase, mixedCase } from './cases/routes-http.ts';
import { rebuildCase, registrationCase, scaleCase, startCase } from './cases/stored-service.ts';
import { vectorSearchCase } from './cases/vector-search.ts';
import { type Finding, isQuick, writeReport } from './report.ts';

const CASES = [
  hitCase,
  coldCase,
  mixedCase,
  vectorSearchCase,
  startCase,
  rebuildCase,
  registrationCase,
  scaleCase,
  heartbeatsCase,
  clusterCase,
];
const wanted = process.argv.slice(2);
const chosen = CASES.filter((one) => wanted.length === 0 || wanted.some((part) => one.name.includes(part)));
if (chosen.length === 0) {
  console.error(`no case is named so; there are: ${CASES.map((one) => one.name).join(', ')}`);
  process.exit(2);
}

const findings = new Map<string, readonly Finding[]>();
let failed = 0;
for (const one of chosen) {
  const start = performance.now();
  console.log(`\n${one.name}`);
  try {
    const found = await one.run();
    findings.set(one.name, found);
    for (const { what, measured, target, isMet, note } of found) {
      const verdict = isMet === null ? '' : isMet ? '  met' : '  MISSED';
      console.log(`  ${what}: ${measured}${target === '' ? '' : ` (target ${target})`}${verdict}\n    ${note}`);
    }
    // At once, so that a later case that fails or is stopped takes nothing away.
    if (!isQuick) writeReport('bench', findings);
  } catch (error) {
    failed++;
    console.error(
      `  failed; what it found before stays in the report\n    ${error instanceof Error ? error.stack : error}`,
    );
  }
  console.log(`  ${((performance.now() - start) / 1_000).toFixed(0)} s`);
}
process.exit(failed === 0 ? 0 : 1);
