/** GET /music/models: the music models that are served, with what each takes, out. */
import type { Model } from '../../schemas/catalog.ts';
import { type MusicModels, musicSettings } from '../../schemas/music.ts';
import { type MusicSpec, validMusicSpec } from '../../src/music/spec.ts';
import { specifiedModels } from '../models/specified-models.ts';
import { declaredSettings } from './render-settings.ts';

type Entry = MusicModels['data'][number];

const entryOf = (model: Model, spec: MusicSpec): Entry => ({
  id: model.id,
  canonical_slug: model.id,
  name: model.name,
  description: model.description,
  created: model.created,
  supported_durations: spec.duration,
  supported_response_formats: spec.formats,
  seed: model.supported_parameters.includes('seed'),
  lyrics: spec.max_lyrics !== undefined && model.supported_parameters.includes('lyrics'),
  streaming: spec.streaming,
  pricing_skus: { second: model.pricing.completion },
  allowed_passthrough_parameters: [...declaredSettings(musicSettings, model)],
});

export const musicModels = specifiedModels('music', validMusicSpec, entryOf);
