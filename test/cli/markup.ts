/** Reads a page strictly: every tag closed in its place, every attribute quoted, no sign left bare. */
export interface Markup {
  readonly tags: readonly { readonly name: string; readonly attributes: Readonly<Record<string, string>> }[];
  /** By heading: all text up to the next one. */
  readonly sections: ReadonlyMap<string, string>;
}

const VOID = new Set(['meta', 'br', 'hr', 'img', 'input', 'link']);
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*(\/?)>/y;
const STYLE = /[^<]+/y;
const TEXT = /(?:[^<>&]|&(?:amp|lt|gt|quot|#39);)+/y;

export function parseMarkup(page: string): Markup {
  const doctype = '<!doctype html>\n';
  if (!page.startsWith(doctype)) throw new Error('does not begin with its doctype');
  const open: string[] = [];
  const tags: Markup['tags'][number][] = [];
  const sections = new Map<string, string>();
  let heading = '';
  for (let at = doctype.length; at < page.length; ) {
    const inside = open.at(-1) ?? '';
    const pattern = page[at] === '<' ? TAG : inside === 'style' ? STYLE : TEXT;
    pattern.lastIndex = at;
    const match = pattern.exec(page);
    if (match === null) throw new Error(`is not well-formed at: ${page.slice(at, at + 60)}`);
    at = pattern.lastIndex;
    if (pattern !== TAG) {
      if (inside === 'h2') heading = match[0];
      else sections.set(heading, (sections.get(heading) ?? '') + match[0]);
      continue;
    }
    const [, closing, name = '', attributes = '', selfClosing] = match;
    if (closing === '/') {
      if (open.pop() !== name) throw new Error(`</${name}> closes <${inside}>`);
      continue;
    }
    tags.push({ name, attributes: attributesOf(attributes) });
    if (selfClosing !== '/' && !VOID.has(name)) open.push(name);
  }
  if (open.length > 0) throw new Error(`<${open.join('><')}> stay open`);
  return { tags, sections };
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([a-zA-Z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
}
