/** Says in short what a model is, what it can do and what it costs. */
import type { ModelEntry } from '../../../../../schemas/model-entry.ts';
import { compact, money } from '../../ui/format.ts';

export interface Price {
  readonly what: string;
  readonly amount: string;
  readonly unit: string;
}

const million = 1_000_000;

/** What a price of a kind of model is for; tokens unless named. */
const units: Readonly<Record<string, string>> = {
  image: 'megapixel',
  video: 'second',
  music: 'second',
  speech: 'second',
  transcription: 'second',
};

const names = [
  ['prompt', 'input'],
  ['completion', 'output'],
  ['internal_reasoning', 'reasoning'],
  ['input_cache_read', 'cached input'],
] as const;

export const kindOf = ({ architecture }: ModelEntry): string => {
  const [first = 'text'] = architecture.output_modalities;
  return first === 'text' ? 'chat' : first;
};

/** Of a million tokens, a megapixel or a second; free ones are left out. */
export const pricesOf = (model: ModelEntry): readonly Price[] => {
  const unit = units[kindOf(model)];
  return names.flatMap(([field, what]) => {
    const price = Number(model.pricing[field] ?? 0);
    if (price === 0) return [];
    const amount = money(unit === undefined ? price * million : price);
    return [{ what, amount, unit: unit ?? 'million tokens' }];
  });
};

/** `$0.30 input · $1.20 output` */
export const priceText = (model: ModelEntry): string => {
  const prices = pricesOf(model);
  const [first] = prices;
  if (first === undefined) return 'free';
  const amounts = prices.filter(({ what }) => what === 'input' || what === 'output');
  return `${amounts.map(({ amount, what }) => (amounts.length === 1 ? amount : `${amount} ${what}`)).join(' · ')} per ${first.unit}`;
};

const abilities: readonly (readonly [parameter: string, name: string])[] = [
  ['tools', 'tools'],
  ['reasoning', 'reasoning'],
  ['structured_outputs', 'JSON schema'],
  ['logprobs', 'logprobs'],
  ['input_references', 'references'],
  ['mask', 'masks'],
  ['frame_images', 'first frame'],
  ['generate_audio', 'sound'],
  ['lyrics', 'lyrics'],
  ['dimensions', 'shorter vectors'],
];

/** What sets it apart: what it reads beside text, and what it takes. */
export const abilitiesOf = ({
  architecture,
  supported_parameters: parameters,
}: ModelEntry): readonly string[] => [
  ...architecture.input_modalities
    .filter((modality) => modality !== 'text')
    .map((modality) => `reads ${modality}`),
  ...abilities.filter(([parameter]) => parameters.includes(parameter)).map(([, name]) => name),
];

export const contextOf = ({ context_length: length }: ModelEntry): string =>
  length === null ? '–' : compact(length);

/** Whether every word is somewhere in what is shown of it. */
export const matches = (model: ModelEntry, words: string): boolean => {
  const text = [model.id, model.name, model.description, kindOf(model), ...abilitiesOf(model)]
    .join(' ')
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};
