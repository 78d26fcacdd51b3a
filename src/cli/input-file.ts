/** Reads a JSON or YAML file (`-`: standard input). Whatever is wrong with it is bad input, said in one line. */
import { readFileSync } from 'node:fs';
import { AgentReachError, errorText, yamlValue } from '../core/index.ts';

const MAX_FILE_BYTES = 268_435_456;

function badFile(detail: string, cause?: unknown): AgentReachError {
  return new AgentReachError('AR_ERR_INVALID_REQUEST', cause === undefined ? { detail } : { detail, cause });
}

export function readText(path: string): string {
  try {
    const bytes = readFileSync(path === '-' ? 0 : path);
    if (bytes.length > MAX_FILE_BYTES) throw badFile(`${path} is larger than ${MAX_FILE_BYTES} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof AgentReachError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw badFile(`no file at ${path}`, error);
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw badFile(`${path} is not UTF-8`, error);
    throw badFile(`cannot read ${path}: ${errorText(error)}`, error);
  }
}

/** The lines that hold anything. */
export function readLines(path: string): string[] {
  const lines = readText(path)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) throw badFile(`${path} is empty`);
  return lines;
}

/** JSON is tried first: it is many times faster than YAML on a large file. */
export async function readInputFile(path: string): Promise<unknown> {
  const content = readText(path);
  if (content.trim() === '') throw badFile(`${path} is empty`);
  try {
    return JSON.parse(content) as unknown;
  } catch (error) {
    if (path.endsWith('.json')) throw badFile(`${path} is not well-formed JSON: ${errorText(error)}`, error);
  }
  const yaml = await import('yaml');
  try {
    return yamlValue(yaml, content, path);
  } catch (error) {
    throw badFile(errorText(error), error);
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** One object, a list of them, or `{ [listName]: [...] }`. */
export async function readObjects(path: string, listName: string, what: string): Promise<Record<string, unknown>[]> {
  const content = await readInputFile(path);
  const list = Array.isArray(content)
    ? (content as unknown[])
    : isObject(content) && Array.isArray(content[listName])
      ? (content[listName] as unknown[])
      : [content];
  if (list.length === 0) throw badFile(`${path} holds no ${what}`);
  return list.map((one, index) => {
    if (isObject(one)) return one;
    throw badFile(`${path}: ${what} ${index + 1} is not an object of fields`);
  });
}
