/** Recognizes simulated speech by its fingerprint, whatever format, rate or tempo it went through. */

/** Samples of one measurement: twenty milliseconds. */
const hop = 480;
/** Measurements that a sound is brought to, however long it is. */
const points = 400;
/** Of loudness and brightness over time, both of which must be alike. */
const alike = 0.85;
const mostRemembered = 512;
/** Below this share of the loudest it is silence, which conversions add and take away at the ends. */
const silence = 0.02;
/** Speeds range from a quarter to four times. */
const mostStretched = 4.5;

/** How loud and how bright a sound is over time; samples of 24,000 a second come in as they are made. */
export class Fingerprint {
  readonly #loud: number[] = [];
  readonly #bright: number[] = [];
  #count = 0;
  #energy = 0;
  #change = 0;
  #last = 0;
  /** A byte of a sample that was cut in two. */
  #odd: number | undefined;

  add(samples: Buffer): void {
    let at = 0;
    if (this.#odd !== undefined && samples.length > 0) {
      this.#take(((this.#odd | ((samples[0] ?? 0) << 8)) << 16) >> 16);
      this.#odd = undefined;
      at = 1;
    }
    for (; at + 1 < samples.length; at += 2) this.#take(samples.readInt16LE(at));
    if (at < samples.length) this.#odd = samples[at];
  }

  /** Undefined for silence. */
  shape(): Shape | undefined {
    const loudest = this.#loud.reduce((most, value) => Math.max(most, value), 0);
    const isHeard = (value: number): boolean => value > loudest * silence;
    const start = this.#loud.findIndex(isHeard);
    const end = this.#loud.findLastIndex(isHeard) + 1;
    if (loudest < 32 || end - start < 4) return undefined;
    return {
      seconds: ((end - start) * hop) / 24_000,
      loud: normal(stretched(this.#loud.slice(start, end))),
      bright: normal(stretched(this.#bright.slice(start, end))),
    };
  }

  #take(sample: number): void {
    this.#energy += sample * sample;
    this.#change += Math.abs(sample - this.#last);
    this.#last = sample;
    if (++this.#count < hop) return;
    this.#loud.push(Math.sqrt(this.#energy / hop));
    this.#bright.push(Math.sqrt(this.#change / hop));
    this.#count = 0;
    this.#energy = 0;
    this.#change = 0;
  }
}

export interface Shape {
  readonly seconds: number;
  readonly loud: Float32Array;
  readonly bright: Float32Array;
}

export class SpeechMemory {
  /** Oldest first. */
  readonly #spoken = new Map<string, Shape>();

  remember(text: string, fingerprint: Fingerprint): void {
    const shape = fingerprint.shape();
    if (shape === undefined) return;
    const key = `${shape.seconds.toFixed(2)} ${text}`;
    this.#spoken.delete(key);
    this.#spoken.set(key, shape);
    const [oldest] = this.#spoken.keys();
    if (this.#spoken.size > mostRemembered && oldest !== undefined) this.#spoken.delete(oldest);
  }

  /** Undefined for a sound that is none of the remembered. */
  recall(fingerprint: Fingerprint): string | undefined {
    const heard = fingerprint.shape();
    if (heard === undefined) return undefined;
    let best = alike;
    let found: string | undefined;
    for (const [key, shape] of this.#spoken) {
      const ratio = heard.seconds / shape.seconds;
      if (ratio > mostStretched || ratio < 1 / mostStretched) continue;
      const likeness = Math.min(product(heard.loud, shape.loud), product(heard.bright, shape.bright));
      if (likeness <= best) continue;
      best = likeness;
      found = key.slice(key.indexOf(' ') + 1);
    }
    return found;
  }
}

const stretched = (values: readonly number[]): Float32Array => {
  const result = new Float32Array(points);
  const scale = values.length / points;
  for (let point = 0; point < points; point++) {
    const from = point * scale;
    const to = Math.max(from + scale, from + 1);
    let sum = 0;
    let weight = 0;
    for (let at = Math.floor(from); at < Math.min(values.length, Math.ceil(to)); at++) {
      const part = Math.min(at + 1, to) - Math.max(at, from);
      sum += (values[at] ?? 0) * part;
      weight += part;
    }
    result[point] = weight > 0 ? sum / weight : 0;
  }
  return result;
};

/** Average zero, length one: how loud the whole is does not matter. */
const normal = (values: Float32Array): Float32Array => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const centred = values.map((value) => value - mean);
  const length = Math.sqrt(product(centred, centred));
  return length === 0 ? centred : centred.map((value) => value / length);
};

const product = (one: Float32Array, other: Float32Array): number => {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
};
