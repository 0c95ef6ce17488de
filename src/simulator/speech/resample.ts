/** Resamples audio with a short windowed sinc. */

const reach = 12;

/** Rates are whole numbers; the filter is computed once for each of the few places a sample can fall between two others. */
export const resample = (samples: Int16Array, from: number, to: number): Int16Array => {
  if (from === to) return samples;
  const common = gcd(from, to);
  const [step, phases] = [from / common, to / common];
  const filters = Array.from({ length: phases }, (_, phase) =>
    filter(phase / phases, Math.min(1, to / from)),
  );
  const result = new Int16Array(Math.floor((samples.length * to) / from));
  for (let at = 0; at < result.length; at++) {
    const place = at * step;
    const taps = filters[place % phases] ?? [];
    const start = Math.floor(place / phases) - reach + 1;
    let sum = 0;
    for (let tap = 0; tap < taps.length; tap++) sum += (samples[start + tap] ?? 0) * (taps[tap] ?? 0);
    result[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  }
  return result;
};

const filter = (offset: number, cutoff: number): Float64Array => {
  const taps = new Float64Array(2 * reach);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap++) {
    const distance = tap - reach + 1 - offset;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / (reach + 1));
    taps[tap] = sinc(distance * cutoff) * cutoff * window;
    sum += taps[tap] ?? 0;
  }
  return taps.map((tap) => tap / sum);
};

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
