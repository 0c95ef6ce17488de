/** The pages of the site: the sections of the sidebar, and the address of each file of the repository. */

export interface Page {
  /** Path in the repository. */
  readonly file: string;
  readonly title: string;
  /** A heading of the page. */
  readonly anchor?: string;
}

export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
  /** Folded until it is opened. */
  readonly collapsed?: true;
}

const page = (file: string, title: string, anchor?: string): Page =>
  anchor === undefined ? { file, title } : { file, title, anchor };

/** Groups of the API reference, in the order of the OpenAPI document. */
const api = (name: string, title: string): Page => page(`docs/reference/api/${name}.md`, title);

/** A page that does not exist (yet) is left out of the sidebar. */
export const sections: readonly Section[] = [
  {
    title: 'Get started',
    pages: [
      page('docs/get-started.md', 'First steps'),
      page('README.md', 'Overview'),
      page('docs/simulator.md', 'Simulator'),
      page('examples/README.md', 'Examples'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('docs/api.md', 'API by example'),
      page('docs/streaming.md', 'Streaming'),
      page('docs/clients.md', 'Clients'),
      page('docs/engines.md', 'Engines'),
      page('docs/routing.md', 'Routing'),
      page('docs/keys-and-budgets.md', 'Keys and budgets'),
      page('docs/limits.md', 'Limits'),
      page('docs/billing.md', 'Usage and billing'),
      page('docs/vector-stores.md', 'Vector stores'),
      page('docs/embeddings-and-decisions.md', 'Embeddings and decisions'),
      page('docs/images.md', 'Images'),
      page('docs/audio.md', 'Audio'),
      page('docs/video-and-music.md', 'Video and music'),
      page('docs/webhooks.md', 'Webhooks'),
      page('docs/files.md', 'Files'),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('docs/operations.md', 'Deploy'),
      page('docs/kubernetes.md', 'Kubernetes'),
      page('docs/scaling.md', 'Scale'),
      page('docs/operations.md', 'Observe', 'monitoring'),
      page('docs/console.md', 'Console'),
      page('docs/admin-api.md', 'Admin API'),
      page('docs/security.md', 'Secure'),
      page('docs/capacity.md', 'Capacity'),
      page('docs/troubleshooting.md', 'Troubleshoot'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('docs/reference/configuration.md', 'Environment variables'),
      page('docs/reference/sluice-yaml.md', 'sluice.yaml'),
      page('docs/reference/cli.md', 'Command line'),
      page('docs/reference/metrics.md', 'Metrics'),
      page('docs/reference/errors.md', 'Errors'),
      page('docs/engine-protocol.md', 'Engine protocol'),
      page('docs/dependencies.md', 'Dependencies'),
    ],
  },
  {
    title: 'API reference',
    collapsed: true,
    pages: [
      page('docs/reference/api/README.md', 'All routes'),
      api('chat', 'Chat'),
      api('messages', 'Messages'),
      api('responses', 'Responses'),
      api('streams', 'Streams'),
      api('decisions', 'Decisions'),
      api('embeddings', 'Embeddings'),
      api('rerank', 'Rerank'),
      api('tokens', 'Tokens'),
      api('images', 'Images'),
      api('audio', 'Audio'),
      api('videos', 'Videos'),
      api('music', 'Music'),
      api('files', 'Files'),
      api('vector-stores', 'Vector stores'),
      api('models', 'Models'),
      api('usage', 'Usage'),
      api('webhooks', 'Webhooks'),
      api('service', 'Service'),
    ],
  },
  {
    title: 'Internals',
    pages: [
      page('ARCHITECTURE.md', 'Architecture'),
      page('DECISIONS.md', 'Decisions'),
      page('CONTRIBUTING.md', 'Contributing'),
      page('bench/README.md', 'Benchmarks'),
    ],
  },
  {
    title: 'Compare and migrate',
    pages: [
      page('docs/compare.md', 'Compare'),
      page('docs/migration.md', 'Migrate'),
      page('CHANGELOG.md', 'Changelog'),
    ],
  },
];

/** Pages outside of `docs`, and those whose address is not their path below it. */
const addresses: Readonly<Record<string, string>> = {
  'docs/README.md': 'index.md',
  'docs/reference/api/README.md': 'reference/api/index.md',
  'README.md': 'overview.md',
  'ARCHITECTURE.md': 'internals/architecture.md',
  'DECISIONS.md': 'internals/decisions.md',
  'CONTRIBUTING.md': 'internals/contributing.md',
  'CHANGELOG.md': 'changelog.md',
  'bench/README.md': 'internals/benchmarks.md',
  'examples/README.md': 'examples.md',
};

/** The address of a file on the site, from its root and still ending in `.md`; undefined: it is no page. */
export const addressOf = (file: string): string | undefined =>
  addresses[file] ?? (/^docs\/[\w/-]+\.md$/.test(file) ? file.slice('docs/'.length) : undefined);

/** Those outside of `docs`. */
export const pagesElsewhere: readonly string[] = Object.keys(addresses).filter(
  (file) => !file.startsWith('docs/'),
);
