/**
 * The report as one page: no script, no request (its policy forbids both), charts drawn as inline SVG. Every text of
 * others goes through `escaped`.
 */
import type { EvaluationReport, EvaluationScores } from '../contract/index.ts';
import type { Gate } from './commands/eval.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: control and direction marks are shown as a dot
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const escaped = (text: string): string =>
  text.replace(UNSAFE, '·').replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);

const percent = (value: number | null): string => (value === null ? '–' : `${(100 * value).toFixed(1)} %`);
const number = (value: number | null, digits = 3): string => (value === null ? '–' : value.toFixed(digits));

const STYLE = `:root{color-scheme:light dark;--ink:#1c2430;--dim:#68748a;--line:#d9dee7;--good:#2f7d5b;--bad:#b4483c;--bar:#3f6fb5;--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ef;--dim:#93a0b5;--line:#343d4c;--good:#5bbd92;--bad:#e57f74;--bar:#7aa5e6;--paper:#151a21}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1080px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}.dim{color:var(--dim)}.bad{color:var(--bad)}.good{color:var(--good)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(140px,1fr));gap:.75rem}.card{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem}
.card b{display:block;font-size:1.35rem}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600;color:var(--dim)}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.charts{display:flex;flex-wrap:wrap;gap:2rem}
svg text{fill:var(--dim);font:11px system-ui,sans-serif}.axis{stroke:var(--line)}`;

export function evaluationPage(report: EvaluationReport, gates: readonly Gate[]): string {
  const { source, scores } = report;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Routing evaluation</title><style>${STYLE}</style></head><body>
<h1>Routing evaluation</h1>
<p class="dim">${escaped(source.place)} · ${source.capabilities} capabilities · index ${escaped(source.indexVersion)} ·
${scores.lines} lines, ${scores.inScope} in scope, ${scores.outOfScope} out of scope</p>
${source.degraded ? '<p class="bad">The model was out: these figures are of routing by words alone.</p>' : ''}
${cards(report)}${gateList(gates)}
<h2>Does relevance mean what it says?</h2>
<div class="charts">${reliabilityChart(report)}${relevanceChart(report)}</div>
<h2>By language</h2>${languageTable(report)}
<h2>By capability, worst first</h2>${capabilityTable(report)}
<h2>Confusions</h2>${confusionTable(report)}
<h2>Near-duplicates</h2>${duplicateTable(report)}
<h2>Out of reach</h2>${reachList(report)}
</body></html>
`;
}

function cards({ scores, latencyMs }: EvaluationReport): string {
  const shown: readonly (readonly [name: string, value: string])[] = [
    ['hit@1', percent(scores.hitAt1)],
    ['hit@5', percent(scores.hitAt5)],
    ['MRR', number(scores.mrr)],
    ['answered right', percent(scores.answeredRight)],
    ['no_match precision', percent(scores.noMatchPrecision)],
    ['no_match recall', percent(scores.noMatchRecall)],
    ['AUROC', number(scores.auroc)],
    ['calibration error', number(scores.calibrationError)],
    ['latency p50 / p99', latencyMs === null ? '–' : `${number(latencyMs.p50, 1)} / ${number(latencyMs.p99, 1)} ms`],
  ];
  return `<div class="cards">${shown.map(([name, value]) => `<div class="card">${name}<b>${value}</b></div>`).join('')}</div>`;
}

function gateList(gates: readonly Gate[]): string {
  if (gates.length === 0) return '';
  const items = gates.map(({ flag, wanted, got, isMet }) => {
    const word = isMet ? '<span class="good">met</span>' : '<span class="bad">missed</span>';
    return `<li>${word} ${flag} ${wanted}: ${number(got)}</li>`;
  });
  return `<ul>${items.join('')}</ul>`;
}

interface Head {
  readonly name: string;
  readonly isNumber?: true;
}

function table(heads: readonly Head[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p class="dim">none</p>';
  const mark = (at: number): string => (heads[at]?.isNumber === true ? ' class="n"' : '');
  const head = heads.map(({ name }, at) => `<th${mark(at)}>${name}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell, at) => `<td${mark(at)}>${cell}</td>`).join('')}</tr>`);
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}

const SIZE = 240;
const LEFT = 34;
const TOP = 10;

function frame(title: string, inside: string): string {
  const height = TOP + SIZE + 34;
  const axis = `<path class="axis" fill="none" d="M${LEFT} ${TOP}V${TOP + SIZE}H${LEFT + SIZE}"/>`;
  const labels = `<text x="${LEFT}" y="${TOP + SIZE + 14}">0</text><text x="${LEFT + SIZE}" y="${TOP + SIZE + 14}" text-anchor="end">relevance 1</text>`;
  return `<figure><figcaption class="dim">${title}</figcaption><svg role="img" aria-label="${title}" width="${LEFT + SIZE + 10}" height="${height}">${axis}${labels}${inside}</svg></figure>`;
}

/** Bars are how often it was right; on the dotted line it would be as often as it said. */
function reliabilityChart({ reliability }: EvaluationReport): string {
  const width = SIZE / reliability.length;
  const bars = reliability.map(({ shareRight, lines, from, to }, at) => {
    if (shareRight === null) return '';
    const height = shareRight * SIZE;
    const label = `${from.toFixed(1)}–${to.toFixed(1)}: right ${percent(shareRight)} of ${lines}`;
    return `<rect x="${LEFT + at * width + 1}" y="${TOP + SIZE - height}" width="${width - 2}" height="${height}" fill="var(--bar)"><title>${label}</title></rect>`;
  });
  const ideal = `<path d="M${LEFT} ${TOP + SIZE}L${LEFT + SIZE} ${TOP}" stroke="var(--bad)" stroke-dasharray="4 3"/>`;
  const top = `<text x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">1</text>`;
  return frame('Share right by relevance', bars.join('') + ideal + top);
}

function relevanceChart({ relevance }: EvaluationReport): string {
  const most = Math.max(1, ...relevance.inScope, ...relevance.outOfScope);
  const width = SIZE / Math.max(1, relevance.inScope.length) / 2;
  const bars = (counts: readonly number[], shift: number, colour: string): string =>
    counts
      .map((count, at) => {
        const height = (count / most) * SIZE;
        return `<rect x="${LEFT + (2 * at + shift) * width}" y="${TOP + SIZE - height}" width="${width - 1}" height="${height}" fill="${colour}"><title>${count} lines</title></rect>`;
      })
      .join('');
  const top = `<text x="${LEFT - 6}" y="${TOP + 8}" text-anchor="end">${most}</text>`;
  return frame(
    'Lines by relevance: in scope (blue), out of scope (red)',
    bars(relevance.inScope, 0, 'var(--bar)') + bars(relevance.outOfScope, 1, 'var(--bad)') + top,
  );
}

const SCORE_HEADS: readonly Head[] = [
  { name: 'lines', isNumber: true },
  { name: 'hit@1', isNumber: true },
  { name: 'hit@5', isNumber: true },
  { name: 'MRR', isNumber: true },
  { name: 'no_match recall', isNumber: true },
  { name: 'AUROC', isNumber: true },
  { name: 'calibration error', isNumber: true },
];
const scoreCells = (scores: EvaluationScores): string[] => [
  String(scores.lines),
  percent(scores.hitAt1),
  percent(scores.hitAt5),
  number(scores.mrr),
  percent(scores.noMatchRecall),
  number(scores.auroc),
  number(scores.calibrationError),
];

function languageTable({ languages }: EvaluationReport): string {
  const rows = languages.map((scores) => [escaped(scores.language), ...scoreCells(scores)]);
  return table([{ name: 'language' }, ...SCORE_HEADS], rows);
}

function capabilityTable({ capabilities }: EvaluationReport): string {
  const bar = (share: number): string =>
    `<svg width="120" height="10" aria-hidden="true"><rect width="${120 * share}" height="10" rx="2" fill="var(--bar)"/></svg>`;
  const rows = capabilities.map(({ capability, lines, hitAt1, hitAt5, answeredRight, taken }) => [
    escaped(capability),
    String(lines),
    lines === 0 ? '' : bar(hitAt1),
    ...(lines === 0 ? ['–', '–', '–'] : [percent(hitAt1), percent(hitAt5), percent(answeredRight)]),
    String(taken),
  ]);
  const isNumber = true;
  const heads: Head[] = ['hit@1', 'hit@5', 'answered right', 'taken from others'].map((name) => ({ name, isNumber }));
  return table([{ name: 'capability' }, { name: 'lines', isNumber }, { name: '' }, ...heads], rows);
}

function confusionTable({ confusions }: EvaluationReport): string {
  const name = (capability: string | null): string => (capability === null ? '<i>no_match</i>' : escaped(capability));
  const heads: Head[] = ['expected', 'answered', 'lines', 'for example', 'relevance', 'nearest phrase'].map((one) => ({
    name: one,
  }));
  const rows = confusions.map(({ expected, answered, lines, text, relevance, nearestPhrase }) => [
    name(expected),
    name(answered),
    String(lines),
    escaped(text),
    number(relevance),
    nearestPhrase === null ? '–' : escaped(nearestPhrase),
  ]);
  return table(heads, rows);
}

function duplicateTable({ nearDuplicates }: EvaluationReport): string {
  const rows = nearDuplicates.map(({ capability, other, similarity, text, otherText }) => [
    escaped(capability),
    escaped(other),
    number(similarity, 2),
    escaped(text),
    escaped(otherText),
  ]);
  return table(
    ['capability', 'like', 'cosine', 'text', 'text of the other'].map((name) => ({ name })),
    rows,
  );
}

function reachList({ unreachable, unknownCapabilities }: EvaluationReport): string {
  const items = [
    ...unreachable.map(
      ({ capability, foundInstead }) =>
        `${escaped(capability)} is found by none of its own texts; ${escaped(foundInstead)} is`,
    ),
    ...unknownCapabilities.map(
      ({ capability, lines, suggestions }) =>
        `${escaped(capability)} is named by ${lines} lines and not registered${suggestions.length === 0 ? '' : `; did you mean ${escaped(suggestions.join(', '))}?`}`,
    ),
  ];
  return items.length === 0
    ? '<p class="dim">none</p>'
    : `<ul>${items.map((item) => `<li>${item}</li>`).join('\n')}</ul>`;
}
