/** Shows a call as a program: curl, Python or TypeScript, each with the key from `SLUICE_KEY`. */
import type { Call } from './call.ts';
import { curl } from './snippets/curl.ts';
import { python } from './snippets/python.ts';
import { typescript } from './snippets/typescript.ts';

export interface Snippet {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** `base`: the base URL, which ends in `/v1`. */
export const snippetsOf = (call: Call, base: string): readonly Snippet[] => [
  { id: 'curl', title: 'curl', text: curl(call, base) },
  { id: 'python', title: 'Python', text: python(call, base) },
  { id: 'typescript', title: 'TypeScript', text: typescript(call, base) },
];
