export { Bm25Index, type Bm25Options, type Bm25Stats, type FieldWeight } from './bm25-index.ts';
export type { LexicalDocument, LexicalHit, LexicalIndex } from './lexical-index.ts';
export { lexicalTerms } from './tokenizer.ts';
