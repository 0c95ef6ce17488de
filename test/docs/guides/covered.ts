/** Which check runs the snippets of which page, and which snippets none can run. */

/** Pages whose snippets another command runs. */
export const coveredElsewhere: Readonly<Record<string, string>> = {
  'README.md': 'test/examples/readme.test.ts',
  'docs/api.md': 'test/examples/api-guide.test.ts',
  'docs/clients.md': 'npm run test:clients',
  'docs/get-started.md': 'npm run stranger',
  'docs/streaming.md': 'test/examples/streaming.test.ts',
};

/** Folders and files whose commands are those of the project's own checks. */
const ofThisProject =
  /^(?:ARCHITECTURE|CHANGELOG|CONTRIBUTING|DECISIONS)\.md$|^(?:bench|examples|test\/\w+)\//;
/** Their requests are the examples of the OpenAPI document. */
const generated = /^docs\/reference\//;

export const coverOf = (file: string): string | undefined => {
  if (generated.test(file)) return 'test/pipelines/openapi.test.ts checks the examples';
  return ofThisProject.test(file) ? 'commands of the checks themselves' : coveredElsewhere[file];
};

export interface NotRun {
  readonly file: string;
  /** How the snippet begins. */
  readonly begins: string;
  readonly reason: string;
}

const row = (file: string, begins: string, reason: string): NotRun => ({
  file: `docs/${file}`,
  begins,
  reason,
});

const server = 'needs a model server; npm run test:engines starts those that can be had';
const docker = 'needs Docker; test/deploy checks the Dockerfile';

/** A comment in front of the snippet, `<!-- not run: reason -->`, does the same. */
export const notRun: readonly NotRun[] = [
  row('admin-api.md', '$ curl -N', 'a stream without an end; test/admin reads it'),
  row(
    'admin-api.md',
    '$ sluice keys list --url',
    'a remote gateway; test/cli/remote.test.ts runs the commands',
  ),
  row('billing.md', '$ npm run chaos', 'takes minutes; .ci/run runs shorter ones'),
  row(
    'engine-protocol.md',
    'sluice engine check',
    'an address; test/cli/engine-check.test.ts runs the command',
  ),
  row('kubernetes.md', '', 'needs a cluster; npm run test:kubernetes runs the chart on a control plane'),
  row('scaling.md', 'CLICKHOUSE_CLUSTER=main', 'needs a cluster of ClickHouse'),
  row('scaling.md', 'npm run chaos', 'takes ten minutes and some twenty processes'),
  row('engines.md', 'vllm serve', server),
  row('engines.md', 'export VLLM_CPU', server),
  row('engines.md', 'python3 -m sglang', server),
  row('engines.md', 'SGLANG_USE_CPU', server),
  row('engines.md', 'llama-server', server),
  row('engines.md', 'OLLAMA_HOST', server),
  row('engines.md', 'text-embeddings-router', server),
  row(
    'engines.md',
    'npm start',
    'two gateways that run until they are stopped; bench and test/topology start such pairs',
  ),
  row('files.md', 'S3_ENDPOINT', 'needs an S3 store; npm run test:services starts one'),
  row('operations.md', 'docker build', docker),
  row(
    'operations.md',
    'npm ci --omit=dev',
    'would remove the packages of this run; test/deploy/prune-builds.test.ts runs it',
  ),
  row('security.md', '$ npx tap', 'the checks themselves, which take minutes'),
  row('simulator.md', 'sluice simulate', 'runs until it is stopped; npm run stranger starts it'),
  row(
    'webhooks.md',
    'sluice webhooks',
    'needs a failed delivery; test/webhooks/gateway.test.ts runs the commands',
  ),
  row('webhooks.md', 'import ', 'a server; test/webhooks/gateway.test.ts sends deliveries to it'),
];

/** Languages of snippets that somebody would run. */
export const runnable = new Set(['sh', 'console', 'ts', 'js', 'python']);
