/**
 * Limits of a registered JSON Schema that a compiler does not set: depth, number of subschemas, references that leave the schema,
 * and references that lead back to themselves or multiply without reading any input (which would run for ever, or
 * 2^n times, at each task). Walks places where schemas stand; `$ref` inside `const` or `enum` is data.
 */
type Json = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 64;
/** Compiling costs about 0.2 ms for each, in one go. Hand-written schemas stay under a hundred. */
const MAX_SUBSCHEMAS = 1_000;
/** Subschemas that one value may have to pass, references followed. Hand-written schemas stay under a hundred. */
const MAX_EXPANSION = 10_000;

/** Keywords whose subschema judges the same value, so that a reference through them can return to its start. */
const SAME_VALUE = ['not', 'if', 'then', 'else'];
const SAME_VALUE_LIST = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE_MAP = ['dependentSchemas'];
const PART = [
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'contains',
  'propertyNames',
  'contentSchema',
];
const PART_LIST = ['prefixItems'];
const PART_MAP = ['properties', 'patternProperties', '$defs', 'definitions'];

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Must come before anything that recurses, such as `JSON.stringify`. */
export function depthProblem(schema: Json): string | undefined {
  return isDeeperThan(schema, MAX_DEPTH) ? `is nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/** Without recursion: the point is to meet deep values. */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const part of Object.values(one)) if (typeof part === 'object' && part !== null) next.push(part);
    }
    level = next;
  }
  return false;
}

function under(schema: Json, single: readonly string[], lists: readonly string[], maps: readonly string[]): Json[] {
  const found: unknown[] = single.map((key) => schema[key]);
  for (const key of lists) {
    const list = schema[key];
    if (Array.isArray(list)) found.push(...list);
  }
  for (const key of maps) {
    const map = schema[key];
    if (isObject(map)) found.push(...Object.values(map));
  }
  return found.filter(isObject);
}

function followPointer(root: unknown, fragment: string): unknown {
  let place: unknown = root;
  for (const raw of fragment.split('/').slice(1)) {
    const key = decodeURIComponent(raw).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Json)[key];
  }
  return place;
}

class SchemaWalk {
  readonly #root: Json;
  readonly #anchors = new Map<string, Json>();
  readonly #seen = new Set<Json>();
  readonly #cost = new Map<Json, number>();
  readonly #open = new Set<Json>();

  constructor(root: Json) {
    this.#root = root;
  }

  problem(): string | undefined {
    return this.#visitAll() ?? this.#expandAll();
  }

  #visitAll(): string | undefined {
    const waiting: Json[] = [this.#root];
    for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
      if (this.#seen.has(schema)) continue;
      this.#seen.add(schema);
      if (this.#seen.size > MAX_SUBSCHEMAS) return `holds more than ${MAX_SUBSCHEMAS} subschemas`;
      if (schema !== this.#root && schema.$id !== undefined) return '$id is allowed at the top only';
      if (schema.$async !== undefined) return '$async is not a JSON Schema keyword';
      for (const key of ['$anchor', '$dynamicAnchor']) {
        const anchor = schema[key];
        if (typeof anchor === 'string' && !this.#anchors.has(anchor)) this.#anchors.set(anchor, schema);
      }
      for (const key of ['$ref', '$dynamicRef']) {
        const reference = schema[key];
        if (reference === undefined) continue;
        if (typeof reference !== 'string' || !reference.startsWith('#')) {
          return `${key} ${JSON.stringify(reference)} leaves the schema; only references that start with # are followed`;
        }
        if (reference === '#' || reference.startsWith('#/')) {
          if (!this.#leadsSomewhere(reference)) return `${key} ${JSON.stringify(reference)} leads to nothing`;
          const target = this.#resolve(reference);
          if (target !== undefined) waiting.push(target);
        }
      }
      waiting.push(...under(schema, SAME_VALUE, SAME_VALUE_LIST, SAME_VALUE_MAP));
      waiting.push(...under(schema, PART, PART_LIST, PART_MAP));
    }
    return undefined;
  }

  /** Own properties only: the compiler would follow `#/constructor/prototype` out of the schema. */
  #leadsSomewhere(reference: string): boolean {
    try {
      return followPointer(this.#root, reference.slice(1)) !== undefined;
    } catch {
      return false;
    }
  }

  #resolve(reference: string): Json | undefined {
    const fragment = reference.slice(1);
    if (fragment !== '' && !fragment.startsWith('/')) return this.#anchors.get(fragment);
    try {
      const target = followPointer(this.#root, fragment);
      return isObject(target) ? target : undefined;
    } catch {
      return undefined; // Bad percent encoding.
    }
  }

  #expandAll(): string | undefined {
    for (const schema of this.#seen) {
      const cost = this.#expansion(schema);
      if (cost === undefined) return 'a reference leads back to itself without reading any input';
      if (cost > MAX_EXPANSION) return `references multiply to more than ${MAX_EXPANSION} checks of one value`;
    }
    return undefined;
  }

  /** Subschemas that one value must pass; undefined when there is no end. Depth is bounded by the size limit. */
  #expansion(schema: Json): number | undefined {
    const known = this.#cost.get(schema);
    if (known !== undefined) return known;
    if (this.#open.has(schema)) return undefined;
    this.#open.add(schema);
    let cost = 1;
    const parts = under(schema, SAME_VALUE, SAME_VALUE_LIST, SAME_VALUE_MAP);
    for (const key of ['$ref', '$dynamicRef']) {
      const reference = schema[key];
      const target = typeof reference === 'string' ? this.#resolve(reference) : undefined;
      if (target !== undefined) parts.push(target);
    }
    for (const part of parts) {
      const partCost = this.#expansion(part);
      if (partCost === undefined) return undefined;
      cost = Math.min(Number.MAX_SAFE_INTEGER, cost + partCost);
    }
    this.#open.delete(schema);
    this.#cost.set(schema, cost);
    return cost;
  }
}

/** For a schema of bounded depth and size only. */
export function schemaProblem(schema: Json, knownDialect: string): string | undefined {
  const dialect = schema.$schema;
  if (dialect !== undefined && dialect !== knownDialect && dialect !== `${knownDialect}#`) {
    return `$schema must be ${knownDialect}`;
  }
  return new SchemaWalk(schema).problem();
}
