/** Decision calls and results: questions about a state, and the probability of each allowed answer. */

export interface DecisionCall {
  /** The state as text; what was structured, as JSON. */
  readonly state: string;
  /** What the model reads before every question: the same for all of them, so that it is read once. */
  readonly context: string;
  readonly questions: readonly DecisionQuestion[];
}

export interface DecisionQuestion {
  readonly type: 'noul' | 'choice' | 'score';
  readonly instructions: string;
  /** What the model reads after the context; ends where the answer begins. */
  readonly prompt: string;
  /** Of `noul`: yes, no. Never empty. */
  readonly answers: readonly AllowedAnswer[];
}

export interface AllowedAnswer {
  /** What the model says when it means this one; no label of a question is the beginning of another. */
  readonly label: string;
  /** The client's own word: an option, a level. */
  readonly name: string;
  readonly description: string | undefined;
}

/** The answer to one question. */
export interface Decided {
  /** Its place in the call. */
  readonly question: number;
  /** Natural logarithms of each answer's likelihood, up to one number that all of them share. */
  readonly logprobs: readonly number[];
  /** Tokens of context and question; undefined when the engine does not say. */
  readonly tokens: number | undefined;
}
