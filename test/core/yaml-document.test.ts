import { describe, expect, it } from 'vitest';
import * as yaml from 'yaml';
import { readYaml, yamlValue } from '../../src/core/index.ts';

const read = (text: string): unknown => readYaml(yaml, text).value;
const refusalOf = (text: string): string => {
  try {
    readYaml(yaml, text);
  } catch (error) {
    return String(error);
  }
  return 'taken';
};

describe('a YAML text', () => {
  it.each([
    ['a block', 'a: 1\nb: 2\na: 3\n', 'Map keys must be unique at line 3, column 1'],
    ['a flow', 'x: {a: 1, b: 2, a: 3}', 'Map keys must be unique at line 1, column 17'],
    ['a list', '- a: 1\n- b: 1\n  b: 2\n', 'Map keys must be unique at line 3, column 3'],
    ['quotes', 'a: 1\n"a": 2\n', 'Map keys must be unique at line 2, column 1'],
    ['a pair of a flow list', '[a: 1, {b: 1, b: 2}]', 'Map keys must be unique at line 1, column 15'],
  ])('holds no key twice in %s', (_where, text, refusal) => {
    expect(refusalOf(text)).toBe(refusal);
    expect(() => yamlValue(yaml, text, 'x.yaml')).toThrow(`x.yaml is not well-formed YAML: ${refusal}`);
  });

  it('may hold the same key in several maps, and keys that only look alike', () => {
    expect(read('- {a: 1}\n- {a: 2}\n')).toEqual([{ a: 1 }, { a: 2 }]);
    expect(read('a: {a: 1}\nb: {a: 1}\n')).toEqual({ a: { a: 1 }, b: { a: 1 } });
    expect(refusalOf('1: a\n"1": b\n')).toBe('taken');
  });

  it.each([
    ['block', (n: number) => Array.from({ length: n }, (_, i) => `k${i}: 1`).join('\n')],
    ['flow', (n: number) => `{${Array.from({ length: n }, (_, i) => `k${i}: 1`).join(',')}}`],
  ])('of many keys in one %s map costs no comparison of each with all', (_kind, text) => {
    expect(Object.keys(read(text(20_000)) as object)).toHaveLength(20_000);
  });

  it.each([
    ['open brackets', '['.repeat(2_000)],
    ['brackets in pairs', '['.repeat(101) + ']'.repeat(101)],
    ['open braces', '{'.repeat(2_000)],
    ['mixed', '[{'.repeat(2_000)],
    ['lists', '- '.repeat(2_000)],
    ['keys', '? '.repeat(2_000)],
    ['values', ': '.repeat(2_000)],
    ['steps', Array.from({ length: 102 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['steps with comments', Array.from({ length: 102 }, (_, i) => `${' '.repeat(i)}a:\n#`).join('\n')],
    ['after a broken list', `[a\n---\n${'- '.repeat(2_000)}`],
    ['after a quote', `"a": \n  'b':\n    ${'- '.repeat(2_000)}`],
  ])('is not read deeper than a hundred levels: %s', (_how, text) => {
    expect(refusalOf(text)).toMatch(/^there are more than 100 levels at line \d+, column \d+$/);
  });

  it('may be ninety levels deep, and wide and long without end', () => {
    const deep = '['.repeat(90) + ']'.repeat(90);
    expect(JSON.stringify(read(deep))).toBe(deep);
    const steps = Array.from({ length: 90 }, (_, i) => `${' '.repeat(i)}a:\n`).join('');
    expect(refusalOf(steps)).toBe('taken');
    const record = '- id: x\n  patterns:\n    - "- - - [ {"\n    - |\n      a: b\n';
    expect(read(record.repeat(200))).toHaveLength(200);
    expect(read('- [a, {b: c}]\n'.repeat(500))).toHaveLength(500);
  });

  it('takes hundreds of aliases, and a thousand at the most', () => {
    const text = (n: number): string => `- &a x\n${'- *a\n'.repeat(n)}`;
    expect(read(text(500))).toHaveLength(501);
    expect(refusalOf(text(1_001))).toBe('there are more than 1000 aliases at line 1002, column 3');
    expect(read(`${'- "*a"\n'.repeat(1_001)}`)).toHaveLength(1_001);
  });
});
