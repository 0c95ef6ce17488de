/** What agents' checks share: prompts that direct the simulator, and expectations of what a program prints. */
import type { Output } from '../client.ts';
import { tail } from '../processes.ts';

/** Makes the model call that tool with exactly these arguments; its next answer quotes the result. */
export const callTool = (tool: string, args: object, question = 'Find it out.'): string =>
  `/sim tool=${tool} arguments=${JSON.stringify(JSON.stringify(args))}\n${question}`;

export const answerWith = (text: string): string => `/sim text=${JSON.stringify(text)}\nSay it.`;

/** About so many tokens of the simulator's tokenizer. */
export const longText = (tokens: number): string => 'again and '.repeat(tokens / 2);

/** A command whose output is not in its own text, so that only running it can tell. */
export const sum = { command: 'expr 41000 + 337', result: '41337' };

export const expectPrinted = (output: Output, expected: RegExp | string): void => {
  const { stdout } = output;
  const isMet = typeof expected === 'string' ? stdout.trim() === expected : expected.test(stdout);
  if (!isMet) throw new Error(`it printed, not ${expected}:\n${tail(output)}`);
};

/** Something went wrong, and the program said so and ended. */
export const expectRefused = (output: Output, expected: RegExp): void => {
  if (output.code === 0) throw new Error(`it ended with code 0\n${tail(output)}`);
  if (!expected.test(output.stdout + output.stderr))
    throw new Error(`it did not print ${expected}:\n${tail(output)}`);
};
