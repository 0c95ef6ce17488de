/** Writes JSON with sorted keys: equal values have equal texts. */
import { type Budget, charactersPerUnit, SchemaProblem } from './budget.ts';

const depthLimit = 100;

export function canonical(value: unknown, budget: Budget): string {
  return write(value, budget, 0);
}

function write(value: unknown, budget: Budget, depth: number): string {
  if (typeof value === 'string') budget.spend(1 + value.length / charactersPerUnit);
  else budget.spend(1);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > depthLimit) throw new SchemaProblem('has values that are nested too deeply');
  if (Array.isArray(value)) return `[${value.map((item) => write(item, budget, depth + 1)).join()}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${write(item, budget, depth + 1)}`).join()}}`;
}
