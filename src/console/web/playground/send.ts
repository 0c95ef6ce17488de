/** Sends a call with the visitor's key. */
import { request } from '../api/http.ts';
import { publicApi } from '../api/public.ts';
import { type Call, FileText, type Json, type JsonObject, type PickedFile } from './call.ts';

/** Bytes of one file that the playground reads; larger ones are for programs. */
export const mostFileBytes = 25_000_000;

/** The response once its head is here; throws an `ApiError` unless it is a success. */
export const send = async (call: Call, signal: AbortSignal): Promise<Response> =>
  request(publicApi, call.path, { method: 'POST', body: await bodyOf(call), signal });

export const sendJson = async <T>(call: Call, signal: AbortSignal): Promise<T> =>
  (await (await send(call, signal)).json()) as T;

const bodyOf = async ({ json, form }: Call): Promise<unknown> => {
  if (form === undefined) return json === undefined ? undefined : filled(json);
  const data = new FormData();
  for (const [name, value] of form)
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, checked(value), value.name);
  return data;
};

const filled = async (value: Json): Promise<unknown> => {
  if (value instanceof FileText) return `${value.prefix}${await base64Of(checked(value.file))}`;
  if (Array.isArray(value)) return Promise.all((value as readonly Json[]).map(filled));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as JsonObject).map(
    async ([name, member]) => [name, member === undefined ? undefined : await filled(member)] as const,
  );
  return Object.fromEntries(await Promise.all(members));
};

const checked = (file: PickedFile): File => {
  if (!(file instanceof File)) throw new TypeError(`${file.name} is not a file of this browser`);
  if (file.size > mostFileBytes)
    throw new Error(`${file.name} is larger than ${mostFileBytes / 1_000_000} MB: send it with a program.`);
  return file;
};

const base64Of = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => {
      const uri = String(reader.result);
      resolve(uri.slice(uri.indexOf(',') + 1));
    };
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read'));
    reader.readAsDataURL(file);
  });
