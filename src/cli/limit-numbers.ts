/** Options for the numbers of limits, of subscriptions and of keys, and how they are read and shown. */
import { type LimitKind, type LimitNumbers, limitKinds } from '../../schemas/limits.ts';
import { type Input, type Option, UsageError } from './command.ts';

export const kinds = Object.entries(limitKinds) as [LimitKind, (typeof limitKinds)[LimitKind]][];

export const limitOptions: Readonly<Record<string, Option>> = Object.fromEntries(
  kinds.map(([, { option, help }]) => [option, { value: 'NUMBER', help }]),
);

/** Those that were given; null for an empty one, where that removes it. */
export const readNumbers = (input: Input, removable: boolean): { [Kind in LimitKind]?: number | null } => {
  const numbers: { [Kind in LimitKind]?: number | null } = {};
  for (const [kind, { option, most }] of kinds) {
    const text = input.text(option);
    if (text === '' && removable) numbers[kind] = null;
    else if (text !== undefined) numbers[kind] = whole(text, option, most);
  }
  return numbers;
};

const whole = (text: string, name: string, most: number): number => {
  const number = Number(text);
  if (!/^\d{1,10}$/.test(text) || number < 1 || number > most)
    throw new UsageError(`--${name} takes a whole number from 1 to ${most}, not "${text}"`);
  return number;
};

/** `rpm 60, tpm 100000` */
export const numberWords = (numbers: LimitNumbers | undefined): string =>
  kinds
    .filter(([kind]) => numbers?.[kind] !== undefined)
    .map(([kind, { option }]) => `${option} ${numbers?.[kind]}`)
    .join(', ');
