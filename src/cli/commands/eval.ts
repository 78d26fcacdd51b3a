/**
 * `agent-reach eval`: how well labelled texts are routed, by a running service or by a registry file in this process.
 * With a wanted figure it is a gate: exit code 1 where one is missed.
 */
import { writeFileSync } from 'node:fs';
import type { RouteSource } from '../../app/index.ts';
import type { EvaluationReport, EvaluationScores } from '../../contract/index.ts';
import { AgentReachError, errorText } from '../../core/index.ts';
import type { ConsoleOutput } from '../console-output.ts';
import { evaluationPage } from '../evaluation-page.ts';
import { EXIT } from '../exit-codes.ts';
import { readObjects, readText } from '../input-file.ts';
import { shownNumber } from '../printable.ts';
import { type CommandContext, type Program, runCommand, share } from '../program.ts';
import { openProgressBar, type ProgressBar } from '../progress-bar.ts';
import { serviceSource } from '../service-source.ts';

export function addEvalCommand(program: Program): void {
  program
    .command('eval')
    .description('measure how well labelled texts are routed; --min-* and --max-* make it a gate')
    .requiredOption('--data <file>', 'JSON lines {text, capability | null, lang?, namespace?}')
    .option('--registry <file>', 'registrations to evaluate in this process; default: the running service')
    .option('--rules <file>', 'rules beside --registry')
    .option('--namespace <name>', 'of lines that name none', 'default')
    .option('--html <file>', 'also write the report as one page that needs no network')
    .option('--similar <share>', 'report texts of two capabilities this near', share, 0.9)
    .option('--min-hit1 <share>', 'least share ranked first', share)
    .option('--min-hit5 <share>', 'least share among the first five', share)
    .option('--min-mrr <share>', 'least mean reciprocal rank', share)
    .option('--min-answered <share>', 'least share answered with its capability', share)
    .option('--min-no-match-precision <share>', 'least share of no_match that is right', share)
    .option('--min-no-match-recall <share>', 'least share of out-of-scope texts refused', share)
    .option('--min-auroc <share>', 'least separation of in scope and out of scope', share)
    .option('--max-calibration-error <share>', 'largest gap between relevance and being right', share)
    .action((_options, command) => {
      const options = command.optsWithGlobals();
      return runCommand(options, async (context) => {
        const { output } = context;
        const report = await evaluateFile(context, options);
        const gates = gatesOf(report.scores, options);
        if (options.html !== undefined) writePage(options.html, report, gates);
        output.answer({ ...report, gates }, () => showReport(output, report, gates));
        return gates.every((gate) => gate.isMet) ? EXIT.ok : EXIT.failed;
      });
    });
}

interface EvalOptions {
  readonly data: string;
  readonly registry?: string | undefined;
  readonly rules?: string | undefined;
  readonly namespace: string;
  readonly similar: number;
}

async function evaluateFile({ output, client }: CommandContext, options: EvalOptions): Promise<EvaluationReport> {
  if (options.rules !== undefined && options.registry === undefined) {
    const detail = '--rules goes with --registry; the running service has its own rules';
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail });
  }
  const { evaluate, readEvaluationLines } = await import('../../app/index.ts');
  const lines = readEvaluationLines(readText(options.data), options.data);
  const bar = await openProgressBar(output);
  const run = (source: RouteSource, kind: 'service' | 'registry', place: string) =>
    evaluate(source, lines, {
      source: { kind, place },
      namespace: options.namespace,
      minSimilarity: options.similar,
      onProgress: bar.update,
    });
  try {
    if (options.registry === undefined) return await run(serviceSource(client), 'service', client.baseUrl);
    const source = await openFile(options.registry, options.rules, bar);
    try {
      return await run(source, 'registry', options.registry);
    } finally {
      await source.close();
    }
  } finally {
    bar.end();
  }
}

async function openFile(registry: string, rulesFile: string | undefined, bar: ProgressBar) {
  const registrations = await readObjects(registry, 'agents', 'registration');
  const rules = rulesFile === undefined ? [] : await readObjects(rulesFile, 'rules', 'rule');
  const { openOfflineService } = await import('../../app/index.ts');
  return openOfflineService({ registrations, rules, onProgress: bar.update });
}

export interface Gate {
  readonly flag: string;
  readonly wanted: number;
  /** null where the data has nothing to count: that is a miss too. */
  readonly got: number | null;
  readonly isMet: boolean;
}

const GATES = [
  ['minHit1', '--min-hit1', 'hitAt1'],
  ['minHit5', '--min-hit5', 'hitAt5'],
  ['minMrr', '--min-mrr', 'mrr'],
  ['minAnswered', '--min-answered', 'answeredRight'],
  ['minNoMatchPrecision', '--min-no-match-precision', 'noMatchPrecision'],
  ['minNoMatchRecall', '--min-no-match-recall', 'noMatchRecall'],
  ['minAuroc', '--min-auroc', 'auroc'],
  ['maxCalibrationError', '--max-calibration-error', 'calibrationError'],
] as const;

function gatesOf(
  scores: EvaluationScores,
  wanted: Readonly<Partial<Record<(typeof GATES)[number][0], number | undefined>>>,
): Gate[] {
  return GATES.flatMap(([option, flag, score]) => {
    const limit = wanted[option];
    if (limit === undefined) return [];
    const got = scores[score];
    const isMet = got !== null && (option === 'maxCalibrationError' ? got <= limit : got >= limit);
    return { flag, wanted: limit, got, isMet };
  });
}

function writePage(path: string, report: EvaluationReport, gates: readonly Gate[]): void {
  try {
    writeFileSync(path, evaluationPage(report, gates));
  } catch (error) {
    throw new AgentReachError('AR_ERR_INVALID_REQUEST', { detail: `cannot write ${path}: ${errorText(error)}` });
  }
}

const percent = (value: number | null): string => (value === null ? '-' : `${(100 * value).toFixed(1)} %`);

function showReport(output: ConsoleOutput, report: EvaluationReport, gates: readonly Gate[]): void {
  const { scores, source, latencyMs } = report;
  output.pairs([
    ['evaluated', `${source.place} (${source.capabilities} capabilities, index ${source.indexVersion})`],
    ['lines', `${scores.lines}: ${scores.inScope} in scope, ${scores.outOfScope} out of scope`],
    ['hit@1', percent(scores.hitAt1)],
    ['hit@5', percent(scores.hitAt5)],
    ['MRR', shownNumber(scores.mrr, 3)],
    ['answered', `${percent(scores.answeredRight)} of in scope with their capability`],
    ['no_match', `precision ${percent(scores.noMatchPrecision)}, recall ${percent(scores.noMatchRecall)}`],
    ['AUROC', shownNumber(scores.auroc, 3)],
    ['calibration error', shownNumber(scores.calibrationError, 3)],
    [
      'latency',
      latencyMs === null
        ? undefined
        : `p50 ${shownNumber(latencyMs.p50, 1)} ms, p99 ${shownNumber(latencyMs.p99, 1)} ms (${latencyMs.samples} routes)`,
    ],
  ]);
  if (source.degraded) output.note('the model is out: these figures are of routing by words alone');
  showGroups(output, report);
  showFindings(output, report);
  for (const { flag, wanted, got, isMet } of gates) {
    output.line(`${isMet ? 'met' : 'MISSED'}  ${flag} ${wanted}: ${shownNumber(got, 3)}`);
  }
}

function showGroups(output: ConsoleOutput, { languages, capabilities, reliability }: EvaluationReport): void {
  output.heading('By language');
  output.table(languages, [
    { head: 'LANGUAGE', cell: ({ language }) => language },
    { head: 'LINES', cell: ({ lines }) => lines, align: 'right' },
    { head: 'HIT@1', cell: ({ hitAt1 }) => percent(hitAt1), align: 'right' },
    { head: 'HIT@5', cell: ({ hitAt5 }) => percent(hitAt5), align: 'right' },
    { head: 'NO_MATCH RECALL', cell: ({ noMatchRecall }) => percent(noMatchRecall), align: 'right' },
    { head: 'AUROC', cell: ({ auroc }) => shownNumber(auroc, 3), align: 'right' },
  ]);
  output.heading('Reliability');
  output.table(
    reliability.filter(({ lines }) => lines > 0),
    [
      { head: 'RELEVANCE', cell: ({ from, to }) => `${from.toFixed(1)}-${to.toFixed(1)}` },
      { head: 'LINES', cell: ({ lines }) => lines, align: 'right' },
      { head: 'SAID', cell: ({ meanRelevance }) => percent(meanRelevance), align: 'right' },
      { head: 'WAS RIGHT', cell: ({ shareRight }) => percent(shareRight), align: 'right' },
    ],
  );
  output.heading(
    `Capabilities, worst first${capabilities.length > SHOWN ? ` (${SHOWN} of ${capabilities.length})` : ''}`,
  );
  output.table(capabilities.slice(0, SHOWN), [
    { head: 'CAPABILITY', cell: ({ capability }) => capability },
    { head: 'LINES', cell: ({ lines }) => lines, align: 'right' },
    { head: 'HIT@1', cell: ({ lines, hitAt1 }) => (lines === 0 ? '-' : percent(hitAt1)), align: 'right' },
    {
      head: 'ANSWERED',
      cell: ({ lines, answeredRight }) => (lines === 0 ? '-' : percent(answeredRight)),
      align: 'right',
    },
    { head: 'TAKEN FROM OTHERS', cell: ({ taken }) => taken, align: 'right' },
  ]);
}

const SHOWN = 20;

function showFindings(output: ConsoleOutput, report: EvaluationReport): void {
  if (report.confusions.length > 0) {
    output.heading('Confusions');
    output.table(report.confusions.slice(0, SHOWN), [
      { head: 'EXPECTED', cell: ({ expected }) => expected ?? 'no_match' },
      { head: 'ANSWERED', cell: ({ answered }) => answered ?? 'no_match' },
      { head: 'LINES', cell: ({ lines }) => lines, align: 'right' },
      { head: 'FOR EXAMPLE', cell: ({ text }) => text, maxWidth: 44 },
      { head: 'NEAREST PHRASE', cell: ({ nearestPhrase }) => nearestPhrase ?? '-', maxWidth: 44 },
    ]);
  }
  if (report.nearDuplicates.length > 0) {
    output.heading('Near-duplicates');
    output.table(report.nearDuplicates.slice(0, SHOWN), [
      { head: 'CAPABILITY', cell: ({ capability }) => capability },
      { head: 'LIKE', cell: ({ other }) => other },
      { head: 'COSINE', cell: ({ similarity }) => shownNumber(similarity), align: 'right' },
      { head: 'TEXT', cell: ({ text }) => text, maxWidth: 40 },
    ]);
  }
  if (report.unreachable.length > 0) {
    output.heading('Found by none of their own texts');
    for (const { capability, foundInstead } of report.unreachable) output.line(`  ${capability}: ${foundInstead} is`);
  }
  if (report.unknownCapabilities.length > 0) {
    output.heading('Named by the data, not registered');
    for (const { capability, lines, suggestions } of report.unknownCapabilities) {
      const hint = suggestions.length === 0 ? '' : `; did you mean ${suggestions.join(', ')}?`;
      output.line(`  ${capability} (${lines} lines${hint})`);
    }
  }
}
