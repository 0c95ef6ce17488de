/** The public API, called with the visitor's key. */
import { signal } from '@preact/signals';
import type { Static } from 'typebox';
import type { ModelEntry, ModelList } from '../../../../schemas/model-entry.ts';
import { type Api, type RequestOptions, requestJson } from './http.ts';
import { apiKey } from './session.ts';

/** Ends in `/v1`; empty while it is not known. The console sets it; the public page is below the same address as the API. */
export const publicBase = signal(new URL('v1', document.baseURI).href);

export const publicApi: Api = {
  base: () => publicBase.value,
  token: () => apiKey.value,
};

export const publicJson = <T>(path: string, options?: RequestOptions): Promise<T> =>
  requestJson<T>(publicApi, path, options);

/** The whole catalog, every kind of model. */
export const listModels = async (signal?: AbortSignal): Promise<readonly ModelEntry[]> => {
  const list = await publicJson<Static<typeof ModelList>>('/models', {
    query: { output_modalities: 'all' },
    ...(signal && { signal }),
  });
  return list.data;
};
