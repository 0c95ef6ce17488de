/** Counts the tokens of a conversation, and ends its parts with one `usage` part. */
import type { Observer } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { withoutReasoning } from './hide-reasoning.ts';
import type { SettledPart, SettledParts } from './settle.ts';
import type { CountedTask, TokenAccount } from './token-account.ts';

/** Characters of one response; an engine that generates more does not stop by itself. */
const mostCharacters = 64 * 1024 * 1024;

interface Counted {
  readonly account: TokenAccount;
  readonly task: Pick<CountedTask, 'hidesReasoning'>;
}

/** Reasoning that the client does not want is counted, and goes no further. */
export const countTokens: Transform<SettledParts, SettledParts, Counted> = transform(
  (next, { account, task }) => new TokenCounter(task.hidesReasoning ? withoutReasoning(next) : next, account),
);

class TokenCounter extends Forwarder<SettledParts, SettledParts> {
  readonly #account: TokenAccount;

  constructor(receiver: Observer<SettledParts>, account: TokenAccount) {
    super(receiver);
    this.#account = account;
  }

  next(parts: SettledParts): void {
    const reported = this.#account.add(parts);
    const rest = reported ? parts.filter(isContent) : parts;
    if (rest.length > 0) this.receiver.next(rest);
    if (this.#account.characters > mostCharacters) throw fail('engine_unreachable', 'The model did not stop');
  }

  override complete(): void {
    const counted = this.#account.counted();
    if (counted === undefined) {
      this.#account.learn();
      this.#end();
    } else counted.subscribe({ complete: () => this.#end() });
  }

  #end(): void {
    this.receiver.next([{ type: 'usage', usage: this.#account.usage() }]);
    this.receiver.complete();
  }
}

const isContent = ({ type }: SettledPart): boolean => type !== 'usage';
