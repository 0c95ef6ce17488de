/** Reads a rerank request into the call for its engine: a 400 names the field or the document. */
import type { Model } from '../../schemas/catalog.ts';
import { maxDocuments, type RerankFields } from '../../schemas/rerank.ts';
import type { RerankCall } from '../../src/ports/engines/rerank.ts';
import { invalid } from '../core/checks.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';

export interface RerankTask {
  readonly model: Model;
  readonly call: RerankCall;
  /** Tokens of a document; Infinity: as many as the model reads. */
  readonly longestDocument: number;
  /** As the client sent them: those of the call may be shorter. */
  readonly documents: readonly string[];
  readonly results: number;
  readonly showsDocuments: boolean;
}

export const readRerankRequest = ({ body, model }: ResolvedRequest<RerankFields>): RerankTask => {
  const { query, top_n, return_documents, max_tokens_per_doc } = body;
  if (body.documents.length === 0) throw invalid('documents must have at least 1 item');
  if (body.documents.length > maxDocuments)
    throw invalid(`documents must have at most ${maxDocuments} items, not ${body.documents.length}`);
  const documents = body.documents.map(readDocument);
  return {
    model,
    call: { query, documents },
    longestDocument: max_tokens_per_doc ?? Number.POSITIVE_INFINITY,
    documents,
    results: Math.min(top_n ?? documents.length, documents.length),
    showsDocuments: return_documents ?? true,
  };
};

const readDocument = (document: unknown, index: number): string => {
  const path = `documents[${index}]`;
  if (typeof document === 'string') return filled(document, path);
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw invalid(`${path} must be a string or an object with a text`);
  const { text, image } = document as { readonly text?: unknown; readonly image?: unknown };
  if (image !== undefined && image !== null) throw invalid(`${path}.image: images are not supported`);
  if (typeof text !== 'string') throw invalid(`${path}.text must be a string`);
  return filled(text, `${path}.text`);
};

const filled = (text: string, path: string): string => {
  if (text === '') throw invalid(`${path} must not be empty`);
  return text;
};
