/**
 * The two modules of @xenova/transformers that tokenizing needs. Its main door also loads sharp and every model
 * class: 135 ms and 10 MB against 36 ms, paid at each start of the process. The package has no `exports`, so that its
 * files are reachable; the types are those of the main door.
 */
declare module '@xenova/transformers/src/tokenizers.js' {
  export { AutoTokenizer, type PreTrainedTokenizer } from '@xenova/transformers';
}
declare module '@xenova/transformers/src/env.js' {
  export { env } from '@xenova/transformers';
}
