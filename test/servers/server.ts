/** What a model server under test is: how it is installed and started, and what of the checks applies to it. */
import type { Output } from '../clients/client.ts';

/** A file `<slug>.server.ts` in `test/servers/kinds` has one as its default export. */
export interface ModelServer {
  /** As the table calls it. */
  readonly name: string;
  /** Its own; the folder of its fixtures is named after it. */
  readonly version: string;
  /** Exact versions of what is installed. */
  readonly packages: Readonly<Record<string, string>>;
  /** Throws when something cannot be had. Repeated only after `packages` or `recipe` have changed. */
  readonly install: (installer: Installer) => Promise<void>;
  /** Raised when `install` changes. */
  readonly recipe?: number;
  /** The heading of docs/engines.md under which its configuration is. */
  readonly guide: string;
  /** The models it hosts for the checks; each of them is a process unless `oneProcess`. */
  readonly models: readonly ModelRole[];
  /** True: one process hosts every model. */
  readonly oneProcess?: boolean;
  readonly start: (place: StartPlace) => StartedAs;
  /** After it responds: whatever has to be done before it serves its models. */
  readonly prepare?: (origin: string, place: StartPlace, run: Run) => Promise<void>;
  /** GET of it responds 200 once the server is ready. */
  readonly readyPath: string;
  /** For one process. */
  readonly startSeconds: number;
  /** Tokens of the writer's window, and what the row says where it says less. */
  readonly window: number;
  /** Requests that it is working on right now. */
  readonly running: (replica: Replica) => Promise<number>;
  /** Between two calls of `running`, where asking has a side effect. */
  readonly pollSeconds?: number;
  readonly traits: Traits;
}

export type ModelRole = 'writer' | 'search';

/** Where servers differ. What is not here holds for all of them. */
export interface Traits {
  /** Whether a call can be forced, to any function and to a named one. */
  readonly forcedCalls: 'named' | 'required' | 'none';
  /** A request can switch thinking on. */
  readonly reasoning: boolean;
  /** `continue_final_message`: the answer goes on where the assistant's message ends. */
  readonly continues: boolean;
  /** An overlong prompt is refused; else it is truncated. */
  readonly refusesLongPrompts: boolean;
  /** It serves the Messages API: the engine's name in the guide's section about it. */
  readonly messagesEngine?: string;
  readonly rerank: boolean;
  readonly decisions: boolean;
  /** `tokenizer_api` of its row. */
  readonly tokenizer?: 'vllm' | 'llama.cpp';
  /** Keeps the prompts of many conversations, and reports how many tokens of one it had kept. */
  readonly prefixCache: boolean;
  /** Refuses a wrong key. */
  readonly keys: boolean;
}

export interface StartPlace {
  /** Where it is installed. */
  readonly installed: string;
  /** With the toy models by their role: `writer.gguf`, and the folder `writer`. */
  readonly toys: string;
  /** An empty folder of this process. */
  readonly folder: string;
  readonly port: number;
  readonly key: string;
  readonly models: readonly ModelRole[];
  readonly window: number;
}

export interface StartedAs {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Replica {
  readonly origin: string;
  readonly key: string;
  /** Of its process group, all of which are its own. */
  readonly group: number;
}

export type Run = (
  program: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<Output>;

export interface Installer {
  /** Of the server; empty at first. */
  readonly folder: string;
  /** A Python environment in the folder; packages are `name==version`, or options of pip. */
  venv(packages: readonly string[]): Promise<void>;
  pip(args: readonly string[]): Promise<void>;
  run(
    program: string,
    args: readonly string[],
    options?: { env?: Readonly<Record<string, string>>; seconds?: number },
  ): Promise<Output>;
}
