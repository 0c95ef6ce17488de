/** Chooses among several servers: the one that worked last, and those that failed only after a cooldown. */
import { exponentialBackoff } from '../../helpers/backoff.ts';

interface Server<Client> {
  readonly client: Client;
  /** In a row. */
  failures: number;
  /** The end of its cooldown. */
  downUntil: number;
}

interface ServersOptions {
  /** The one to begin with; processes begin with different ones, to share their load. */
  readonly first?: number;
  /** Milliseconds of a clock that does not jump. */
  readonly now?: () => number;
}

/** Servers that a call is sent to, one after another. */
const mostTries = 3;
/** A refused connection costs nothing, one that hangs a whole timeout: cooldowns grow. */
const cooldown = exponentialBackoff({ first: 5_000, most: 300_000 });

export class Servers<Client> {
  readonly #servers: readonly Server<Client>[];
  readonly #now: () => number;
  /** The next ones behind it follow. */
  #preferred: number;

  constructor(clients: readonly Client[], { first, now = () => performance.now() }: ServersOptions = {}) {
    this.#servers = clients.map((client) => ({ client, failures: 0, downUntil: 0 }));
    this.#now = now;
    this.#preferred = first ?? Math.floor(Math.random() * clients.length);
  }

  /**
   * Runs `work` with the client of one server, and again with another one while what it throws `isElsewhere`. Servers in
   * their cooldown come last, not never: if all are, one of them may have recovered.
   */
  async run<T>(
    work: (client: Client) => Promise<T>,
    isElsewhere: (error: unknown) => boolean,
    tries = mostTries,
  ): Promise<T> {
    const servers = this.#inOrder(this.#now()).slice(0, tries);
    for (const [place, server] of servers.entries()) {
      const begun = this.#now();
      try {
        const result = await work(server.client);
        server.failures = 0;
        server.downUntil = 0;
        this.#preferred = this.#servers.indexOf(server);
        return result;
      } catch (error) {
        if (!isElsewhere(error)) throw error;
        // Calls that were under way together fail together, and count as one.
        if (server.downUntil <= begun) {
          server.failures++;
          server.downUntil = this.#now() + cooldown(server.failures);
        }
        if (place === servers.length - 1) throw error;
      }
    }
    throw new Error('there is no server');
  }

  get clients(): readonly Client[] {
    return this.#servers.map(({ client }) => client);
  }

  #inOrder(now: number): readonly Server<Client>[] {
    const around = [...this.#servers.slice(this.#preferred), ...this.#servers.slice(0, this.#preferred)];
    const end = ({ downUntil }: Server<Client>) => (downUntil > now ? downUntil : 0);
    return around.sort((one, other) => end(one) - end(other));
  }
}
