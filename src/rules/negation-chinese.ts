/**
 * Whether Chinese words deny what stands at a place: a negating word earlier in the same clause whose reach gets
 * there, or a refusal after it (删除不了). Negations in a pair affirm (不得不, 不要忘记, 不…不行); 不 in a question (要不要)
 * and the negation inside a relative clause (不需要的文件) deny nothing. Cost: a few characters around the place, however
 * long the clause and however many negations it holds.
 */
import { upTo } from './rule-text.ts';

const CLAUSE_END = /[,.!?;:、。…\n()【】「」]/;
/** What begins anew inside a clause. 了 ends what was said before it, except in 为了, 除了 and 忘了. */
const RESTART =
  /但是|但|而是|而应|然后|所以|因此|怎么|如何|怎样|(?<![为除忘])了|(?<!随便|轻易|直接)就(?=[^是]{0,4}$)|请(?![勿别不])/;
/** Characters that a negation still reaches over. */
const MAX_REACH = 16;
/** Characters looked at before the place: the reach, the longest negation, and what could affirm it. */
const LOOK_BACK = MAX_REACH + 16;
/** The longest refusal has five. */
const LOOK_AT_END = 8;
const MAX_PAIR_GAP = 3;

/** Words with a negating character that deny nothing; replaced before looking. */
const AFFIRMING: readonly RegExp[] = [
  /(.)[不没]\1/gu,
  /有没有|可不可以|应不应该|能不能够|是否|能否/gu,
  /不(?:仅仅|良|明|详|仅|但|只|光|单|止|管|论|过|错|妨|如|久|断|然|小心|经意|知不觉|好意思|同的|客气|由得|禁)/gu,
  /要不(?!得)(?:然)?|差不多|对不起|好不容易|了不起|忍不住|禁不住|(?:为什么|为何|为啥|干嘛|何|怎么)不(?![能可会让允准])/gu,
  /没(?:问题|关系|事|错|收)|[淹沉埋出]没/gu,
  /[分区特类级性个识鉴告辨派离差送國区]别|别(?=[的人名墅处扭])/gu,
  /无意[中间]|无论|未来|未必|未知|未经|未免/gu,
];

const NEGATOR =
  /用不着|犯不着|来不及|没有?|不[要用必需想愿许准得能可应该会是再]?|别|甭|勿|莫|[尚从并还]未|未(?=.{0,2}$)|无[法需须权意]|毋[须庸]|禁止|严禁|拒绝|避免|防止|停止|取消|放弃|谢绝|忘记|忘/gu;
/** After a negation these bring in what is acted on, so a later 的 belongs to it and closes nothing. */
const PREPOSITION = /[把将让给对从]|在(?![用线])|允许|随意|随便/u;
/** 不要保留直接删除: 直接 behind a verb of its own begins the next one. */
const UNCONNECTED = /^(?!随便|随意|轻易|就这样)[^把将在给对从用让]{2,}直接/u;
const AFTER_END = /(?:不行|不可以?|不允许|不成|使不得|没必要|不必要|被禁止|是禁止|不被允许)的?$/u;
const AFTER_START = /^(?:不了|不掉|不成|不得)/u;
const TRADITIONAL: Readonly<Record<string, string>> = {
  別: '别',
  沒: '没',
  無: '无',
  請: '请',
  們: '们',
  對: '对',
  會: '会',
  須: '须',
};

interface Found {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

const simplified = (text: string): string => text.replace(/[別沒無請們對會須]/g, (one) => TRADITIONAL[one] ?? one);

function neutral(text: string): string {
  return AFFIRMING.reduce((left, idiom) => left.replace(idiom, (found) => '〇'.repeat(found.length)), text);
}

function reaches(clause: string, { end }: Found): boolean {
  const between = clause.slice(end);
  if (between.length > MAX_REACH || UNCONNECTED.test(between)) return false;
  // With the character before, which tells 忘了 from 了.
  if (RESTART.test(clause.slice(end - 1))) return false;
  const relative = between.lastIndexOf('的');
  if (relative < 0) return true;
  return PREPOSITION.test(between.slice(0, relative)) || /[我你他她它们人户]$/u.test(between.slice(0, relative));
}

/** The word that negates what stands between `before` and `after`, or undefined. */
export function chineseNegation(before: string, after: string): string | undefined {
  const clause = neutral(simplified(before.slice(-LOOK_BACK)).split(CLAUSE_END).at(-1) ?? '');
  const rest = simplified(upTo(CLAUSE_END, after));
  const reaching: Found[] = [];
  for (const match of clause.matchAll(NEGATOR)) {
    const found = { word: match[0], start: match.index, end: match.index + match[0].length };
    if (reaches(clause, found)) reaching.push(found);
  }
  const refusal = AFTER_START.exec(rest) ?? AFTER_END.exec(rest.slice(-LOOK_AT_END));
  const last = reaching.at(-1);
  // 不删除不行, 非删除不可: what may not be left undone.
  if (refusal !== null) {
    const isDoubled = last !== undefined ? last.end === clause.length : clause.endsWith('非');
    return isDoubled ? undefined : refusal[0];
  }
  if (last === undefined) return undefined;
  let pairs = 0;
  for (let index = reaching.length - 1; index > 0; index--) {
    const [later, earlier] = [reaching[index], reaching[index - 1]];
    if (later === undefined || earlier === undefined || later.start - earlier.end > MAX_PAIR_GAP) break;
    pairs++;
  }
  return pairs % 2 === 1 ? undefined : last.word;
}
