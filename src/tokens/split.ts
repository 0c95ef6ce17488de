/** Splits a text into items of limited tokens at the best boundaries, with overlap. */
import type { SplitRules, SplitText, TextWindow } from '../ports/offload.ts';
import { type Boundary, boundary, piecesOf, wordsOf } from './boundaries.ts';

interface Unit {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  /** At its end. */
  readonly boundary: Boundary;
}

export const splitText = (
  { text, covered, final }: TextWindow,
  rules: SplitRules,
  countTokens: (text: string) => number,
): SplitText => {
  const units = unitsOf(text, rules, countTokens);
  const items: string[] = [];
  let from = 0;
  let done = covered;
  for (;;) {
    const full = fill(units, from, rules.maxTokens);
    if (full === units.length) break;
    const cut = bestCut(units, from, full, done, rules.maxTokens);
    add(items, text, units[from], units[cut - 1], done);
    done = units[cut - 1]?.end ?? done;
    from = overlapFrom(units, from, cut, rules.overlapTokens);
  }
  if (final) {
    add(items, text, units[from], units.at(-1), done);
    return { items, rest: '', covered: 0 };
  }
  const start = units[from]?.start ?? text.length;
  return { items, rest: text.slice(start), covered: Math.max(0, done - start) };
};

/** Leaves out what has no text beyond the item before. */
const add = (
  items: string[],
  text: string,
  first: Unit | undefined,
  last: Unit | undefined,
  done: number,
): void => {
  if (first === undefined || last === undefined || text.slice(done, last.end).trim() === '') return;
  items.push(text.slice(first.start, last.end).trim());
};

const unitsOf = (text: string, rules: SplitRules, countTokens: (text: string) => number): readonly Unit[] => {
  const units: Unit[] = [];
  let start = 0;
  for (const piece of piecesOf(text)) {
    const tokens = countTokens(text.slice(start, piece.end));
    if (tokens <= rules.maxTokens) units.push({ start, end: piece.end, tokens, boundary: piece.boundary });
    else {
      let from = start;
      for (const { end } of wordsOf(text, start, piece.end)) {
        const atEnd = end === piece.end;
        units.push({
          start: from,
          end,
          tokens: countTokens(text.slice(from, end)),
          boundary: atEnd ? piece.boundary : boundary.word,
        });
        from = end;
      }
    }
    start = piece.end;
  }
  return units;
};

/** The first unit that no longer fits an item that begins at `from`. */
const fill = (units: readonly Unit[], from: number, maxTokens: number): number => {
  let tokens = 0;
  for (let at = from; at < units.length; at++) {
    tokens += units[at]?.tokens ?? 0;
    if (tokens > maxTokens) return Math.max(at, from + 1);
  }
  return units.length;
};

/** The best boundary in the second half of the item, the last of equals; always beyond what is done. */
const bestCut = (
  units: readonly Unit[],
  from: number,
  full: number,
  done: number,
  maxTokens: number,
): number => {
  let best = full;
  let strength = -1;
  let tokens = 0;
  for (let at = from; at < full; at++) {
    const unit = units[at];
    if (unit === undefined) break;
    tokens += unit.tokens;
    if (unit.end <= done || tokens < maxTokens / 2) continue;
    if (unit.boundary >= strength) {
      best = at + 1;
      strength = unit.boundary;
    }
  }
  return best;
};

/** As much of the item as may be repeated, from a good boundary on; nothing of the section before a heading. */
const overlapFrom = (units: readonly Unit[], from: number, cut: number, overlapTokens: number): number => {
  if (units[cut - 1]?.boundary === boundary.heading) return cut;
  let tokens = 0;
  let words = cut;
  let sentences = cut;
  for (let at = cut - 1; at > from; at--) {
    tokens += units[at]?.tokens ?? 0;
    if (tokens > overlapTokens) break;
    words = at;
    if ((units[at - 1]?.boundary ?? 0) > boundary.word) sentences = at;
  }
  return sentences < cut ? sentences : words;
};
