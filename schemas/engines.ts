/** An engine as `sluice.yaml` describes it: one row under `engines`. */
import Type, { type Static } from 'typebox';
import { Closed, Described } from './shapes.ts';

/** A length of time with its unit: `500ms`, `2s`, `1.5m`, `1h`. */
export const Duration = Type.String({
  pattern: '^[0-9]{1,9}(\\.[0-9]{1,3})?(ms|s|m|h)$',
  expected: 'a length of time such as 500ms, 2s or 10m',
});
export type Duration = Static<typeof Duration>;

/** Request fields that the gateway does not know and engines are sent: names, or `*` for all. */
export const Forward = Type.Array(
  Type.String({
    pattern: '^(\\*|[A-Za-z][A-Za-z0-9_]{0,63})$',
    expected: "the name of a request field, or '*' for all",
  }),
  { maxItems: 256, uniqueItems: true },
);
export type Forward = Static<typeof Forward>;

const EngineTimeouts = Closed({
  connect: Described(Type.Optional(Duration), 'Until a connection is established, TLS included'),
  first_byte: Described(
    Type.Optional(Duration),
    'From sending the request until the first byte of the response body',
  ),
  idle: Described(
    Type.Optional(Duration),
    'Between two reads of a response; time spent paused for a slow client does not count',
  ),
  total: Described(Type.Optional(Duration), 'The whole call'),
});

/** How a call is repeated on another replica while no response has begun. */
const EngineRetries = Closed({
  attempts: Described(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    'Replicas that one call is sent to, the first included',
  ),
  backoff: Described(Type.Optional(Duration), 'Wait before the first retry; doubles with each further one'),
  max_backoff: Described(Type.Optional(Duration), 'The longest wait; at least `backoff`'),
  budget: Described(
    Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    'Retries as a share of the calls of the last ten seconds',
  ),
  budget_min: Described(
    Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    'Retries in ten seconds that are allowed however few calls there are',
  ),
});

/** When a replica is ejected, and for how long. */
const CircuitBreaker = Closed({
  connection_failures: Described(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    'Connections in a row that could not be made or broke before a response',
  ),
  server_failures: Described(
    Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    'Responses in a row with a server error or too late',
  ),
  cooldown: Described(
    Type.Optional(Duration),
    'Until the first trial call; doubles with each one that fails',
  ),
  max_cooldown: Described(Type.Optional(Duration), 'The longest cooldown; at least `cooldown`'),
});

/** Calls that wait while every replica is full. */
const EngineQueue = Closed({
  length: Described(
    Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    'Calls that may wait while every replica is full; 0: none waits',
  ),
  wait: Described(Type.Optional(Duration), 'The longest wait of a call in the queue'),
});

const Address = Type.String({
  pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
  maxLength: 2048,
  expected: 'an address such as http://10.0.0.5:8000/v1',
});

/** Two of weight 1 and one of weight 2 get a quarter, a quarter and half of the calls. */
const WeightedReplica = Closed({
  url: Described(Address, 'Base address'),
  weight: Described(
    Type.Optional(Type.Number({ minimum: 0.01, maximum: 1000 })),
    'Share of calls beside the other replicas; 1 unless given',
  ),
});

export const replicaWords = 'an address such as http://10.0.0.5:8000/v1, or { url, weight }';

/** An address, alone where its weight is 1. */
export const ReplicaRow = Type.Union([Address, WeightedReplica], { expected: replicaWords });
export type ReplicaRow = Static<typeof ReplicaRow>;

/** Where replicas are found instead: `src/engines/discovery/source.ts` reads it. */
const ReplicaSource = Type.String({
  minLength: 1,
  maxLength: 2048,
  expected: 'a list of addresses, or a source such as dns+http://vllm.default.svc:8000/v1',
});

/** Where a request names its session: a header, or a field of its JSON body; dots lead into objects. */
export const SessionSource = Closed({
  header: Described(
    Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', expected: 'the name of a header' })),
    'Request header that names the session',
  ),
  field: Described(
    Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}(\\.[A-Za-z_][A-Za-z0-9_]{0,63}){0,3}$',
        expected: 'the name of a request field such as user or metadata.session_id',
      }),
    ),
    'Field of the JSON body that names the session; dots lead into objects',
  ),
});
export type SessionSource = Static<typeof SessionSource>;

export const EngineRow = Closed({
  wire: Described(Type.String({ minLength: 1 }), 'Protocol of the engine: `openai` or `anthropic`'),
  replicas: Described(
    Type.Union([Type.Array(ReplicaRow, { minItems: 1, maxItems: 1000 }), ReplicaSource]),
    "Base addresses, each ending where the wire's own paths begin (`http://10.0.0.5:8000/v1`)",
  ),
  balance: Described(
    Type.Optional(Type.Enum(['least-busy', 'prefix', 'session'])),
    'How a replica is chosen; `prefix` is `least-busy` for calls without a long prompt',
  ),
  session: Described(
    Type.Optional(SessionSource),
    'Where a request names its session, with `balance: session`',
  ),
  slow_start: Described(
    Type.Optional(Duration),
    'Time in which a replica that joins reaches its full share of calls',
  ),
  key_env: Described(
    Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        expected: 'the name of an environment variable',
      }),
    ),
    "Name of the environment variable that holds the engine's key",
  ),
  key_header: Described(
    Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$', expected: 'the name of a header' })),
    "The header that carries the key, where the engine does not take the wire's; `authorization` as a bearer token",
  ),
  headers: Described(
    Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9-]+$' }),
        Type.String({ pattern: '^[\\t\\x20-\\x7e]*$', maxLength: 8192 }),
        { additionalProperties: false },
      ),
    ),
    'Further request headers',
  ),
  concurrency: Described(
    Type.Optional(Type.Integer({ minimum: 1 })),
    'Calls running at once on one replica; absent: no cap',
  ),
  timeouts: Described(Type.Optional(EngineTimeouts), 'Time limits of a call'),
  retries: Described(
    Type.Optional(EngineRetries),
    'How a call is repeated on another replica while no response has begun',
  ),
  circuit_breaker: Described(Type.Optional(CircuitBreaker), 'When a replica is ejected, and for how long'),
  queue: Described(Type.Optional(EngineQueue), 'Calls that wait while every replica is full'),
  fan_out_n: Described(
    Type.Optional(Type.Boolean()),
    'True for an engine that returns one choice per call: n choices become n calls',
  ),
  continues: Described(
    Type.Optional(Type.Boolean()),
    'True: where a replica breaks a stream off, another is asked to go on with it (`continue_final_message`)',
  ),
  limit_field: Described(
    Type.Optional(Type.Enum(['max_tokens', 'max_completion_tokens'])),
    "The engine's name for the completion limit",
  ),
  tokenizer_api: Described(
    Type.Optional(Type.Enum(['vllm', 'llama.cpp', 'sluice'])),
    'Which requests its tokenizer takes, beside the base address: those of vLLM (SGLang too), llama.cpp or another Sluice. Absent: it offers none',
  ),
  forward: Described(Type.Optional(Forward), 'For chat models of this engine whose own row has none'),
  probe: Described(
    Type.Optional(
      Closed({
        path: Described(
          Type.String({ pattern: '^/[\\x21-\\x7e]*$', maxLength: 2048 }),
          "Path from the root of the replica's host",
        ),
        interval: Described(Type.Optional(Duration), 'Time between two probes of a replica'),
      }),
    ),
    'A GET that responds 2xx while the replica is healthy; without it health is learnt from calls alone',
  ),
  ca_file: Described(
    Type.Optional(Type.String({ minLength: 1 })),
    "PEM file with the authorities that sign the replicas' certificates, instead of the public ones",
  ),
});
export type EngineRow = Static<typeof EngineRow>;
