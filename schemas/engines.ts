/** An engine as `sluice.yaml` describes it: one row under `engines`. */
import Type, { type Static } from 'typebox';
import { Closed } from './shapes.ts';

/** The engine that needs no row: the simulator inside the gateway. */
export const SIMULATOR = 'simulator';

/** A length of time with its unit: `500ms`, `2s`, `1.5m`, `1h`. */
export const Duration = Type.String({
  pattern: '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h)$',
  description: 'a length of time such as 500ms, 2s or 10m',
});
export type Duration = Static<typeof Duration>;

/** Request fields that the gateway does not know and engines are sent: names, or `*` for all. */
export const Forward = Type.Array(
  Type.String({
    pattern: '^(\\*|[A-Za-z][A-Za-z0-9_]{0,63})$',
    description: "the name of a request field, or '*' for all",
  }),
  { maxItems: 256, uniqueItems: true },
);
export type Forward = Static<typeof Forward>;

const EngineTimeouts = Closed({
  /** Until a connection is established, TLS included. */
  connect: Type.Optional(Duration),
  /** From sending the request until the first byte of the response body. */
  first_byte: Type.Optional(Duration),
  /** Between two reads of a response; time spent paused for a slow client does not count. */
  idle: Type.Optional(Duration),
  /** The whole call. */
  total: Type.Optional(Duration),
});

/** How a call is repeated on another replica while no response has begun. */
const EngineRetries = Closed({
  /** Replicas that one call is sent to, the first included. */
  attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  /** Wait before the first retry; doubles with each further one. */
  backoff: Type.Optional(Duration),
  max_backoff: Type.Optional(Duration),
  /** Retries as a share of the calls of the last ten seconds. */
  budget: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  /** Retries in ten seconds that are allowed however few calls there are. */
  budget_min: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
});

/** When a replica is ejected, and for how long. */
const CircuitBreaker = Closed({
  /** Connections in a row that could not be made or broke before a response. */
  connection_failures: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  /** Responses in a row with a server error or too late. */
  server_failures: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  /** Until the first trial call; doubles with each one that fails. */
  cooldown: Type.Optional(Duration),
  max_cooldown: Type.Optional(Duration),
});

/** Calls that wait while every replica is full. */
const EngineQueue = Closed({
  /** 0: none waits. */
  length: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  wait: Type.Optional(Duration),
});

const Address = Type.String({
  pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
  maxLength: 2048,
  description: 'an address such as http://10.0.0.5:8000/v1',
});

/** Two of weight 1 and one of weight 2 get a quarter, a quarter and half of the calls. */
const WeightedReplica = Closed({
  url: Address,
  weight: Type.Optional(Type.Number({ minimum: 0.01, maximum: 1000 })),
});

export const replicaWords = 'an address such as http://10.0.0.5:8000/v1, or { url, weight }';

/** An address, alone where its weight is 1. */
export const ReplicaRow = Type.Union([Address, WeightedReplica], { description: replicaWords });
export type ReplicaRow = Static<typeof ReplicaRow>;

/** Where replicas are found instead: `src/engines/discovery/source.ts` reads it. */
const ReplicaSource = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'a list of addresses, or a source such as dns+http://vllm.default.svc:8000/v1',
});

/** Where a request names its session: a header, or a field of its JSON body; dots lead into objects. */
export const SessionSource = Closed({
  header: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description: 'the name of a header' }),
  ),
  field: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}(\\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,3}$',
      description: 'the name of a request field such as user or metadata.session_id',
    }),
  ),
});
export type SessionSource = Static<typeof SessionSource>;

export const EngineRow = Closed({
  /** The protocol of the engine: a name in `src/engines/wires.ts`. */
  wire: Type.String({ minLength: 1 }),
  /** Base addresses, each ending where the wire's own paths begin (`http://10.0.0.5:8000/v1`). */
  replicas: Type.Union([Type.Array(ReplicaRow, { minItems: 1, maxItems: 1000 }), ReplicaSource]),
  /** How a replica is chosen; `prefix` unless given, which for calls without a long prompt is `least-busy`. */
  balance: Type.Optional(Type.Enum(['least-busy', 'prefix', 'session'])),
  /** With `balance: session`. */
  session: Type.Optional(SessionSource),
  /** In which a replica that joins gets its full share of calls; 30 s by default. */
  slow_start: Type.Optional(Duration),
  /** Name of the environment variable that holds the engine's key. */
  key_env: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
      description: 'the name of an environment variable',
    }),
  ),
  /** The header that carries the key, where the engine does not take the wire's; `authorization` as a bearer token. */
  key_header: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', description: 'the name of a header' }),
  ),
  /** Further request headers. */
  headers: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z0-9-]+$' }),
      Type.String({ pattern: '^[\\t\\x20-\\x7e]*$', maxLength: 8192 }),
      { additionalProperties: false },
    ),
  ),
  /** Calls running at once on one replica; absent: no cap. */
  concurrency: Type.Optional(Type.Integer({ minimum: 1 })),
  timeouts: Type.Optional(EngineTimeouts),
  retries: Type.Optional(EngineRetries),
  circuit_breaker: Type.Optional(CircuitBreaker),
  queue: Type.Optional(EngineQueue),
  /** True for an engine that returns one choice per call: n choices become n calls. */
  fan_out_n: Type.Optional(Type.Boolean()),
  /** True: where a replica breaks a stream off, another is asked to go on with it (`continue_final_message`). */
  continues: Type.Optional(Type.Boolean()),
  /** The engine's name for the completion limit; `max_tokens` by default, which nearly all take. */
  limit_field: Type.Optional(Type.Enum(['max_tokens', 'max_completion_tokens'])),
  /** Which requests its tokenizer takes, beside the base address: those of vLLM (SGLang too), llama.cpp or another Sluice. Absent: it offers none. */
  tokenizer_api: Type.Optional(Type.Enum(['vllm', 'llama.cpp', 'sluice'])),
  /** For chat models of this engine whose own row has none. */
  forward: Type.Optional(Forward),
  /** A GET that responds 2xx while the replica is healthy; without it health is learnt from calls alone. */
  probe: Type.Optional(
    Closed({
      /** Path from the root of the replica's host. */
      path: Type.String({ pattern: '^/[\\x21-\\x7e]*$', maxLength: 2048 }),
      interval: Type.Optional(Duration),
    }),
  ),
  /** PEM file with the authorities that sign the replicas' certificates, instead of the public ones. */
  ca_file: Type.Optional(Type.String({ minLength: 1 })),
});
export type EngineRow = Static<typeof EngineRow>;
