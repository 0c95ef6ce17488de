/** Saves what the API sends, or what the page has, as a file. */
import { adminApi } from './admin.ts';
import { type Query, request } from './http.ts';

/** Long enough for a browser to begin. */
const keptMs = 60_000;

export const saveFile = (content: Blob, name: string): void => {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), keptMs);
};

/** By `fetch`, because a link cannot carry the token. */
export const downloadCsv = async (path: string, query: Query, name: string): Promise<void> => {
  const response = await request(adminApi, path, { query: { ...query, format: 'csv' } });
  saveFile(await response.blob(), name);
};

export const saveJson = (value: unknown, name: string): void =>
  saveFile(new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: 'application/json' }), name);
