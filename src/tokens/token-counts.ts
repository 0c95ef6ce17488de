/** Counts tokens that engines did not count: by tokenizer, corrected by what finished responses have taught. */
import { catchError, from, map, type Observable, of } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { SIMULATOR } from '../../schemas/simulator.ts';
import type { Generated, TokenCounts } from '../ports/engines/token-counts.ts';
import type { Offload } from '../ports/offload.ts';
import { countTokens as countSimulated } from './simulator.ts';

/** What finished responses of a model were like; later ones weigh more. */
interface Learnt {
  /** The engine's tokens and ours, by script: vocabularies differ most in those with many characters. */
  readonly scripts: Map<Script, { tokens: number; counted: number }>;
  /** Responses in a row that had a piece for each token. */
  singles: number;
  /** Counted with the next text that has to be: until then no thread is started for it, which takes 20 MB. */
  waiting: Sample[];
  samples: number;
  /** When the next one is learnt from, on the clock of `performance.now`. */
  next: number;
}

/** A finished response, with the tokens that its engine counted. */
interface Sample {
  readonly generated: Generated;
  readonly tokens: number;
}

type Script = 'narrow' | 'wide';

/** The first few are learnt from, then one every so often; so many may wait. */
const firstSamples = 8;
const sampleEvery = 30_000;
/** Shorter ones say little: what ends a response counts as well. */
const leastTokens = 32;
const decay = 0.8;
/** So many in a row, and pieces are taken to be tokens. */
const surelySingles = 2;
/** Counting a long text in parts finds up to so many too many. */
const partsShare = 0.003;
/** A vocabulary that we do not have, as far as another can stand in for it. */
const foreignShare = 0.01;
const sameVocabulary = 0.02;

export const createTokenCounts = (offload: Pick<Offload, 'countTokens'>): TokenCounts => {
  const models = new Map<string, Learnt>();
  // One at a time: clients that leave all at once must not fill the queue that requests wait in.
  let last: Promise<unknown> = Promise.resolve();

  const tokensOf = ({ tokenizer }: Model, { texts, scale }: Generated): Observable<number> => {
    if (tokenizer === SIMULATOR) return of(scale * sum(texts.map(countSimulated)));
    const counted = last.then(() => offload.countTokens(texts, tokenizer));
    last = counted.catch(() => undefined);
    return from(counted).pipe(map((tokens) => scale * tokens));
  };

  /** What is counted next finds them counted. */
  const countWaiting = (model: Model): void => {
    const learnt = models.get(model.id);
    for (const { generated, tokens } of learnt?.waiting.splice(0) ?? [])
      tokensOf(model, generated).subscribe({
        next: (counted) => addRatio(learnt, scriptOf(generated.texts), tokens, counted),
        // The next one may teach as much.
        error: () => undefined,
      });
  };

  return {
    count: (model, generated) => {
      if (generated.pieces === 0) return of(0);
      countWaiting(model);
      return tokensOf(model, generated).pipe(
        map((tokens) => decide(tokens, generated, models.get(model.id))),
        catchError(() => of(roughly(generated))),
      );
    },

    countTexts: (model, texts) => {
      const all = { texts, scale: 1, pieces: 0 };
      return texts.length === 0 ? of(0) : tokensOf(model, all).pipe(catchError(() => of(roughly(all))));
    },

    learns: ({ id, tokenizer }) =>
      tokenizer !== SIMULATOR && (models.get(id)?.next ?? 0) <= performance.now(),

    learn: (model, generated, tokens) => {
      if (tokens < leastTokens) return;
      const learnt: Learnt = models.get(model.id) ?? {
        scripts: new Map(),
        singles: 0,
        waiting: [],
        samples: 0,
        next: 0,
      };
      models.set(model.id, learnt);
      learnt.samples++;
      if (learnt.samples >= firstSamples) learnt.next = performance.now() + sampleEvery;
      learnt.singles = isSingle(generated, tokens) ? learnt.singles + 1 : 0;
      learnt.waiting.push({ generated, tokens });
      if (learnt.waiting.length > firstSamples) learnt.waiting.shift();
    },
  };
};

/** Characters alone, where nothing better is to be had at once. */
const roughly = ({ texts, scale, pieces }: Generated): number =>
  Math.max(pieces, Math.floor((scale * sum(texts.map(({ length }) => length))) / 5));

const addRatio = (learnt: Learnt | undefined, script: Script, tokens: number, counted: number): void => {
  const before = learnt?.scripts.get(script) ?? { tokens: 0, counted: 0 };
  learnt?.scripts.set(script, {
    tokens: decay * before.tokens + tokens,
    counted: decay * before.counted + counted,
  });
};

/** What ends the response is a token without a piece. */
const isSingle = ({ pieces }: Generated, tokens: number): boolean =>
  pieces <= tokens && tokens - pieces <= Math.max(2, tokens * 0.01);

/** Never more than was generated, as far as can be known: where two counts are near each other, the safer one. */
const decide = (counted: number, { texts, pieces }: Generated, learnt: Learnt | undefined): number => {
  const known = learnt?.scripts.get(scriptOf(texts));
  const ratio = known === undefined ? 1 : known.tokens / known.counted;
  const isOurs = Math.abs(ratio - 1) <= sameVocabulary;
  const tokens = counted * (isOurs ? Math.min(1, ratio) : ratio);
  const spare = Math.floor(tokens * (isOurs ? partsShare : foreignShare));
  // A piece for each token, as most engines send them: their number is exact in every vocabulary.
  const isNear = pieces >= tokens * 0.8 && pieces <= tokens * 1.35;
  const areSingles =
    learnt === undefined
      ? // A character of several tokens comes in one piece; others that are missing make a foreign vocabulary.
        pieces >= tokens * 0.9 && (pieces >= tokens || tokens - pieces > 2 * wideCharacters(texts))
      : learnt.singles >= surelySingles;
  return isNear && areSingles ? pieces : Math.max(1, Math.floor(tokens) - spare);
};

/** Chinese, Japanese, Korean, emoji. */
const isWide = (code: number): boolean => code >= 0x2e80;
const wideShare = 0.2;

const scriptOf = (texts: readonly string[]): Script =>
  wideCharacters(texts) > wideShare * sum(texts.map(({ length }) => length)) ? 'wide' : 'narrow';

const wideCharacters = (texts: readonly string[]): number => {
  let wide = 0;
  for (const text of texts) for (let at = 0; at < text.length; at++) if (isWide(text.charCodeAt(at))) wide++;
  return wide;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, next) => total + next, 0);
