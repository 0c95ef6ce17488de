/** Reads models, engines and the state of the gateway from the admin API, and changes what takes calls. */
import type {
  AdminEngineDetail,
  AdminModel,
  AdminModelDetail,
} from '../../../../../schemas/admin/engines.ts';
import type { AdminStatus } from '../../../../../schemas/admin/status.ts';
import { adminJson } from '../../api/admin.ts';

const mostPages = 20;

interface Page<Record> {
  readonly data: readonly Record[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Up to 2000. */
export const loadModels = async (signal: AbortSignal): Promise<readonly AdminModel[]> => {
  const models: AdminModel[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const page: Page<AdminModel> = await adminJson('/models', { query: { limit: 100, after }, signal });
    models.push(...page.data);
    if (!page.has_more || page.last_id === null) break;
    after = page.last_id;
  }
  return models;
};

export const loadModel = (id: string, signal: AbortSignal): Promise<AdminModelDetail> =>
  adminJson(`/models/${encodeURIComponent(id)}`, { signal });

export const loadEngine = (id: string, signal: AbortSignal): Promise<AdminEngineDetail> =>
  adminJson(`/engines/${encodeURIComponent(id)}`, { signal });

export const loadStatus = (signal: AbortSignal): Promise<AdminStatus> => adminJson('/status', { signal });

export const setDrained = async (engine: string, replica: string, drained: boolean): Promise<void> => {
  await adminJson(`/engines/${encodeURIComponent(engine)}/${drained ? 'drain' : 'undrain'}`, {
    method: 'POST',
    body: { replica },
  });
};

/** Models in service afterwards; 409 says why the file was refused. */
export const reloadCatalog = async (): Promise<number> =>
  (await adminJson<{ readonly models: number }>('/catalog/reload', { method: 'POST' })).models;
