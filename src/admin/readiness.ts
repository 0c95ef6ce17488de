/** What a process needs, as questions, in; why it should get no work now out. */

/** Throws or rejects with a sentence when what it asks for is not there. */
export type Question = () => unknown;

export interface Readiness {
  /** It has started. */
  enter(): void;
  /** From now on work goes elsewhere: the process is about to end. */
  leave(): void;
  unready(): Promise<readonly string[]>;
}

/** Milliseconds after which what has not answered counts as away. */
const usualPatience = 2_000;

export const createReadiness = (
  questions: Readonly<Record<string, Question>>,
  patience = usualPatience,
): Readiness => {
  let phase: 'starting' | 'here' | 'shutting down' = 'starting';
  const ask = async ([what, question]: readonly [string, Question]): Promise<readonly string[]> => {
    try {
      await inTime(question, patience);
      return [];
    } catch (error) {
      return [`${what}: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
  return {
    enter: () => {
      phase = 'here';
    },
    leave: () => {
      phase = 'shutting down';
    },
    unready: async () => {
      const answers = await Promise.all(Object.entries(questions).map(ask));
      return [...(phase === 'here' ? [] : [`process: ${phase}`]), ...answers.flat()];
    },
  };
};

const inTime = async (question: Question, patience: number): Promise<unknown> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer for ${patience} ms`)), patience);
  });
  try {
    return await Promise.race([question(), late]);
  } finally {
    clearTimeout(timer);
  }
};
