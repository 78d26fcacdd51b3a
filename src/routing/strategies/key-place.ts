/**
 * The fixed place of a text in 0..1, the same in every process: 53 bits of two mixed 32-bit hashes (cyrb53), which
 * spread evenly and cost an eighth of SHA-256. Not for secrets: whoever wants to can find texts with one place.
 */
export function placeOf(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return ((low & 0x1fffff) * 2 ** 32 + (high >>> 0)) / 2 ** 53;
}
