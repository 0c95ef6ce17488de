/** Fills in the defaults of a model row of `sluice.yaml`. */
import type { Model, ModelRow } from '../../schemas/catalog.ts';
import type { EngineRow, SessionSource } from '../../schemas/engines.ts';
import { SIMULATOR } from '../../schemas/simulator.ts';
import { imageLimits, imageParameterNames } from './image-entry.ts';
import { kindDefaults, reasoningParameters } from './kind-defaults.ts';

export const resolveRow = (id: string, row: ModelRow, engine?: EngineRow): Model => {
  const kind = row.kind ?? 'chat';
  const defaults = kindDefaults[kind];
  const image = row.capabilities?.image;
  const session = sessionOf(engine);
  const forward = kind === 'chat' ? (row.forward ?? engine?.forward) : undefined;
  return {
    name: id,
    description: '',
    created: 0,
    served_as: id,
    served: true,
    private: false,
    legacy_ids: [],
    tokenizer: row.engine === SIMULATOR ? SIMULATOR : 'o200k_base',
    input_modalities: [...defaults.input_modalities],
    output_modalities: [...defaults.output_modalities],
    is_moderated: false,
    supported_parameters: [
      ...(image === undefined ? defaults.supported_parameters : imageParameterNames(image)),
      ...(row.reasoning === undefined ? [] : reasoningParameters),
      ...(forward ?? []).filter((name) => name !== '*' && !defaults.supported_parameters.includes(name)),
    ],
    ...(forward === undefined ? {} : { forward }),
    ...(session === undefined ? {} : { session }),
    ...(image === undefined ? {} : { per_request_limits: imageLimits(image) }),
    ...row,
    id,
    kind,
    pricing: { prompt: '0', completion: '0', ...row.pricing },
    limits: { ...defaults.limits, ...row.limits },
  };
};

/** Names of headers are in lower case where requests are read. */
const sessionOf = (engine: EngineRow | undefined): SessionSource | undefined => {
  const { balance, session } = engine ?? {};
  if (balance !== 'session' || session?.header === undefined)
    return balance === 'session' ? session : undefined;
  return { header: session.header.toLowerCase() };
};
