/**
 * `npm run bench [part of a case's name ...]`: every case, or those named, one after the other; prints what it found
 * and leaves bench/results/bench.{json,md}. Some 20 minutes for all; nothing else should run on the machine.
 */
import { coldCase, hitCase, mixedCase } from './cases/routes-http.ts';
import { rebuildCase, registrationCase, scaleCase, startCase } from './cases/stored-service.ts';
import { vectorSearchCase } from './cases/vector-search.ts';
import { type Finding, writeReport } from './report.ts';

const CASES = [hitCase, coldCase, mixedCase, vectorSearchCase, startCase, rebuildCase, registrationCase, scaleCase];
const wanted = process.argv.slice(2);
const chosen = CASES.filter((one) => wanted.length === 0 || wanted.some((part) => one.name.includes(part)));
if (chosen.length === 0) {
  console.error(`no case is named so; there are: ${CASES.map((one) => one.name).join(', ')}`);
  process.exit(2);
}

const findings = new Map<string, readonly Finding[]>();
for (const one of chosen) {
  console.log(`\n${one.name}`);
  const found = await one.run();
  findings.set(one.name, found);
  for (const { what, measured, target, isMet, note } of found) {
    const verdict = isMet === null ? '' : isMet ? '  met' : '  MISSED';
    console.log(`  ${what}: ${measured}${target === '' ? '' : ` (target ${target})`}${verdict}\n    ${note}`);
  }
  writeReport('bench', findings);
}
process.exit(0);
