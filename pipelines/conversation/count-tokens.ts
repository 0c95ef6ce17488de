/** Counts the tokens of a conversation, and ends its parts with one `usage` part. */
import type { Observer } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { withoutReasoning } from './hide-reasoning.ts';
import type { SettledPart, SettledParts } from './settle.ts';
import type { CountedTask, TokenAccount } from './token-account.ts';

/** Characters of one response; an engine that generates more does not stop by itself. */
const mostCharacters = 64 * 1024 * 1024;

interface Counted {
  readonly account: TokenAccount;
  readonly task: Pick<CountedTask, 'hidesReasoning'>;
  readonly exchange: Pick<Exchange, 'served'>;
}

/** Reasoning that the client does not want is counted, and goes no further. */
export const countTokens: Transform<SettledParts, SettledParts, Counted> = transform(
  (next, { account, task, exchange }) =>
    new TokenCounter(task.hidesReasoning ? withoutReasoning(next) : next, account, exchange),
);

class TokenCounter extends Forwarder<SettledParts, SettledParts> {
  readonly #account: TokenAccount;
  readonly #exchange: Counted['exchange'];

  constructor(receiver: Observer<SettledParts>, account: TokenAccount, exchange: Counted['exchange']) {
    super(receiver);
    this.#account = account;
    this.#exchange = exchange;
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
    const { served } = this.#exchange;
    const usage = this.#account.usage();
    // The headers were sent before.
    const isContinued = served !== undefined && served.continuations > 0;
    this.receiver.next([
      isContinued ? { type: 'usage', usage, attempts: served.attempts } : { type: 'usage', usage },
    ]);
    this.receiver.complete();
  }
}

const isContent = ({ type }: SettledPart): boolean => type !== 'usage';
