/** GET /music/models: the music models that are served, with what each takes, out. */
import { defer, of } from 'rxjs';
import type { Model } from '../schemas/catalog.ts';
import { type MusicModels, musicSettings } from '../schemas/music.ts';
import { type MusicSpec, validMusicSpec } from '../src/music/spec.ts';
import { jsonAnswer, type KeyedPipeline } from '../src/ports/exchange.ts';
import type { Ports } from '../src/ports/ports.ts';
import { declaredSettings } from './stages/render-settings.ts';

type Entry = MusicModels['data'][number];

export const musicModels =
  (ports: Ports): KeyedPipeline =>
  () =>
    defer(() => {
      const data = ports.catalog
        .list() // 502 503
        .flatMap((model): readonly Entry[] => {
          const spec = model.kind === 'music' ? validMusicSpec(model) : undefined;
          return spec === undefined ? [] : [entryOf(model, spec)];
        });
      return of(jsonAnswer({ data } satisfies MusicModels));
    });

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
