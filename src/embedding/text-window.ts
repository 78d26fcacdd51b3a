/** What of a text reaches a model, and what that will cost, both known before a tokenizer has seen the text. */

/** The bundled vocabulary's longest piece has 16 letters, so that no cut-off letter could have been a token. */
const LETTERS_PER_TOKEN = 16;

/**
 * Cuts a text that no window of `maxTokens` could hold, white space folded first as the tokenizer would; shorter
 * texts come back as they are. Tokenizing 10,000 letters takes 20-80 ms, 2,048 take under 15.
 */
export function clipText(text: string, maxTokens: number): string {
  const maxLetters = maxTokens * LETTERS_PER_TOKEN;
  if (text.length <= maxLetters) return text;
  const clipped = text
    .slice(0, maxLetters * 4)
    .replace(/\s+/gu, ' ')
    .slice(0, maxLetters);
  // Never half of a surrogate pair.
  return /[\uD800-\uDBFF]$/.test(clipped) ? clipped.slice(0, -1) : clipped;
}

/** Tokens that a text will take, roughly: a letter of an ideographic script counts 0.7, any other 0.25. */
export function estimateTokens(text: string, maxTokens: number): number {
  let tokens = 2;
  const letters = Math.min(text.length, maxTokens * 4);
  for (let index = 0; index < letters; index++) tokens += text.charCodeAt(index) >= 0x2e80 ? 0.7 : 0.25;
  return Math.min(maxTokens, tokens);
}
