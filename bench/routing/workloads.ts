/** Conversations that clients hold with a model: what is said, and when. */
import { Random } from './random.ts';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** One client: its conversation, a turn at a time. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** What is added to the conversation for the next turn; undefined at its end. */
  next(): Turn | undefined;
}

export interface Turn {
  readonly add: readonly Message[];
  /** Milliseconds before it is sent. */
  readonly pause: number;
  readonly answerTokens: number;
}

export interface Workload {
  readonly name: string;
  readonly what: string;
  /** Clients at once, each with one conversation after another. */
  readonly clients: number;
  conversation(random: Random): Conversation;
}

const constant = new Random(7);
const systemPrompts = Array.from({ length: 4 }, () => constant.text(250));
const longPrompts = Array.from({ length: 3 }, () => constant.text(4000));
const passages = Array.from({ length: 400 }, () => constant.text(600));
const hotPrompt = constant.text(6000);

const turns = (
  system: string,
  count: number,
  random: Random,
  make: (turn: number) => Omit<Turn, 'pause'> & { readonly pause?: number },
): Conversation => {
  let done = 0;
  return {
    messages: [{ role: 'system', content: system }],
    next: () => (done === count ? undefined : { pause: random.exponential(400), ...make(done++) }),
  };
};

const user = (content: string): readonly Message[] => [{ role: 'user', content }];
const anyOf = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.between(0, items.length - 1)] as Item;

export const workloads: readonly Workload[] = [
  {
    name: 'multi-turn',
    what: 'chats of 4 to 14 turns, each of 60 to 400 tokens',
    clients: 40,
    conversation: (random) =>
      turns(anyOf(random, systemPrompts), random.between(4, 14), random, () => ({
        add: user(random.text(random.between(60, 400))),
        answerTokens: random.between(60, 200),
      })),
  },
  {
    name: 'system prompt',
    what: 'one or two questions to one of three assistants with 4,000 tokens of instructions',
    clients: 40,
    conversation: (random) =>
      turns(longPrompts[random.zipf(longPrompts.length)] ?? '', random.between(1, 2), random, () => ({
        add: user(random.text(random.between(20, 150))),
        answerTokens: random.between(40, 120),
      })),
  },
  {
    name: 'RAG',
    what: 'a question after three passages of 600 tokens; popular passages come first, and often',
    clients: 32,
    conversation: (random) => {
      const first = random.zipf(100);
      const found = [first, 100 + ((first * 7 + random.zipf(4)) % 100), 200 + random.zipf(200)];
      const context = found.map((passage) => passages[passage]).join('\n\n');
      return turns(systemPrompts[0] ?? '', 1, random, () => ({
        add: user(`${context}\n\n${random.text(random.between(15, 60))}`),
        answerTokens: random.between(40, 120),
      }));
    },
  },
  {
    name: 'agents',
    what: 'tasks of 8 to 24 steps whose context grows by 200 to 1,200 tokens each',
    clients: 16,
    conversation: (random) =>
      turns(`${systemPrompts[1]} ${systemPrompts[2]}`, random.between(8, 24), random, (turn) => ({
        // What a tool returned is a message of the user here: not all routers take those of tools.
        add: user(random.text(turn === 0 ? random.between(100, 500) : random.between(200, 1200))),
        answerTokens: random.between(20, 80),
        pause: random.exponential(150),
      })),
  },
  {
    name: 'hot prefix',
    what: 'every request begins with the same 6,000 tokens',
    clients: 64,
    conversation: (random) =>
      turns(hotPrompt, 1, random, () => ({
        add: user(random.text(random.between(10, 60))),
        answerTokens: random.between(60, 140),
        pause: random.exponential(150),
      })),
  },
];
