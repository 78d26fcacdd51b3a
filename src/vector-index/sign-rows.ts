/**
 * The signs of vectors, one bit a number: of two unit vectors the share of signs that differ is about their angle by
 * pi, so that few differing bits mean a near vector. A guess that costs an eighth of the products: who needs the truth
 * takes some more than wanted from here and compares those exactly.
 */
export class SignRows {
  readonly #dimensions: number;
  readonly #wordsPerRow: number;
  #words = new Uint32Array(0);
  readonly #query: Uint32Array;
  /** Rows by the number of signs that differ. */
  readonly #histogram: Uint32Array;
  #differing = new Uint16Array(0);

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#wordsPerRow = Math.ceil(dimensions / 32);
    this.#query = new Uint32Array(this.#wordsPerRow);
    this.#histogram = new Uint32Array(dimensions + 1);
  }

  /** Takes the signs of `vector` as those of a row. */
  set(row: number, vector: Float32Array): void {
    const end = (row + 1) * this.#wordsPerRow;
    if (end > this.#words.length) {
      const grown = new Uint32Array(Math.max(end, this.#words.length * 2));
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#write(this.#words, end - this.#wordsPerRow, vector);
  }

  copy(from: number, to: number): void {
    const start = from * this.#wordsPerRow;
    this.#words.copyWithin(to * this.#wordsPerRow, start, start + this.#wordsPerRow);
  }

  /** At most `most` of the first `count` rows, those with the fewest differing signs, in no order. */
  nearest(query: Float32Array, count: number, most: number): number[] {
    if (this.#differing.length < count) this.#differing = new Uint16Array(count * 2);
    const differing = this.#differing;
    const histogram = this.#histogram.fill(0);
    this.#write(this.#query, 0, query);
    for (let row = 0; row < count; row++) {
      const bits = this.#differingFrom(row);
      differing[row] = bits;
      histogram[bits] = (histogram[bits] as number) + 1;
    }
    let limit = 0;
    let within = histogram[0] as number;
    while (within < most && limit < this.#dimensions) within += histogram[++limit] as number;
    const found: number[] = [];
    // The nearest first, so that `most` cuts among the farthest kept ones only.
    for (let row = 0; row < count; row++) if ((differing[row] as number) < limit) found.push(row);
    for (let row = 0; row < count && found.length < most; row++) if (differing[row] === limit) found.push(row);
    return found;
  }

  #differingFrom(row: number): number {
    const words = this.#words;
    const query = this.#query;
    const wordsPerRow = this.#wordsPerRow;
    const start = row * wordsPerRow;
    let sum = 0;
    for (let i = 0; i < wordsPerRow; i++) {
      let bits = (words[start + i] as number) ^ (query[i] as number);
      bits -= (bits >>> 1) & 0x5555_5555;
      bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
      sum += Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
    }
    return sum;
  }

  #write(words: Uint32Array, start: number, vector: Float32Array): void {
    for (let word = 0; word < this.#wordsPerRow; word++) {
      let bits = 0;
      const end = Math.min(this.#dimensions, (word + 1) * 32);
      for (let i = word * 32; i < end; i++) bits = (bits << 1) | ((vector[i] as number) < 0 ? 1 : 0);
      words[start + word] = bits;
    }
  }
}
