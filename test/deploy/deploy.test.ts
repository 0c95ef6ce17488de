/** Checks docker-compose.yml and the Dockerfile against Compose's schema and the code they start. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import Schema from 'typebox/schema';
import { parse } from 'yaml';
import { commands } from '../../src/cli/commands.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { all, environmentOf, readDockerfile } from './dockerfile.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly restart?: string;
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly configs: { readonly front: { readonly content: string } };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const stages = readDockerfile(read('Dockerfile'));
const image = stages.at(-1) ?? [];
const ours = services.filter(([, { build }]) => build !== undefined);
const hasHaproxy = spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;
const named = (name: string): Service => compose.services[name] ?? { image: '' };

/** As Compose fills them in where the shell sets nothing but what must be set. */
const environment = (service: Service): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...environmentOf(image), ...service.environment }).map(([name, value]) => [
      name,
      String(value)
        .replace(/\$\{\w+:-(.*?)\}/g, '$1')
        .replace(/\$\{\w+:\?.*?\}/g, 'sk-0123456789abcdef'),
    ]),
  );

/** Compose means Go's durations, not those that JSON Schema means by the word. */
const goDurations = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'format' in value && value.format === 'duration'
    ? { type: 'string', pattern: '^(\\d+(us|ms|s|m|h))+$' }
    : value;

t.test('it is valid for Compose', async (t) => {
  // Compose's own, as its linter carries it.
  const schema = read('node_modules/dclint/schemas/compose.schema.json');
  const validator = Schema.Compile(JSON.parse(schema, goDurations));
  t.strictSame(validator.Errors(compose), [true, []]);
  const broken = structuredClone(compose) as { services: Record<string, object> };
  Object.assign(broken.services.redis ?? {}, { comand: [], stop_grace_period: 'soon' });
  t.notOk(validator.Check(broken), 'and would say what it does not');
});

t.test('our services: settings that are read, commands that exist', async (t) => {
  t.strictSame(ours.map(([name]) => name).sort(), ['billing', 'gateway', 'worker']);
  const configs: Record<string, Config> = {};
  for (const [name, service] of ours) {
    const asked = new Set<string>(['NODE_ENV']); // Node's packages read it
    const env = environment(service);
    configs[name] = loadConfig(
      new Proxy(env, { get: (target, key) => asked.add(String(key)) && target[String(key)] }),
    );
    t.strictSame(
      Object.keys(env).filter((key) => !asked.has(key)),
      [],
      `${name}: no setting that nobody reads`,
    );
    t.ok(
      commands.some((command) => command.name === service.command?.join(' ')),
      `${name}: ${service.command}`,
    );
  }
  t.match(configs.gateway, {
    billing: 'apart',
    jobs: { renders: 0 },
    admin: { host: '0.0.0.0', port: 9787 },
  });
  t.ok((configs.worker?.jobs.renders ?? 0) > 0);
  for (const [name, { admin }] of Object.entries(configs))
    t.equal(admin?.port, 9787, `${name}: its health is asked for there`);
  t.ok(
    Number.parseInt(named('gateway').stop_grace_period ?? '', 10) * 1000 > (configs.gateway?.drainMs ?? 0),
    'time to drain',
  );
  t.equal(
    named('front').stop_grace_period,
    named('gateway').stop_grace_period,
    'and the front waits as long',
  );

  const { REDIS_URL, KAFKA_BROKERS, CLICKHOUSE_URL, QDRANT_URL, S3_ENDPOINT, S3_BUCKET, ...env } =
    environment(named('gateway'));
  const hosts = [REDIS_URL, `kafka://${KAFKA_BROKERS}`, CLICKHOUSE_URL, QDRANT_URL, S3_ENDPOINT].map(
    (url) => new URL(url ?? '').hostname,
  );
  t.strictSame(hosts, ['redis', 'kafka', 'clickhouse', 'qdrant', 'minio']);
  const { username, password, pathname } = new URL(CLICKHOUSE_URL ?? '');
  t.strictSame(
    { CLICKHOUSE_USER: username, CLICKHOUSE_PASSWORD: password, CLICKHOUSE_DB: pathname.slice(1) },
    named('clickhouse').environment,
  );
  t.strictSame(
    { MINIO_ROOT_USER: env.S3_ACCESS_KEY_ID, MINIO_ROOT_PASSWORD: env.S3_SECRET_ACCESS_KEY },
    named('minio').environment,
  );
  t.match(named('bucket').entrypoint?.at(-1), `store/${S3_BUCKET}`);
  t.match(compose.configs.front.content, `gateway:${env.PORT} port ${configs.gateway?.admin?.port}`);
});

t.test('every service has a restart policy, health check, pinned image and volume', async (t) => {
  // Their reasons are beside them.
  const withoutHealth = services.filter(([, { healthcheck }]) => healthcheck?.disable).map(([name]) => name);
  t.strictSame(withoutHealth, ['bucket']);
  for (const [name, service] of services) {
    t.equal(service.restart, name === 'bucket' ? 'no' : 'unless-stopped', `${name}: restart`);
    // Our image has its own.
    if (service.build === undefined && !withoutHealth.includes(name))
      t.match(service.healthcheck?.test?.[0], /^CMD/, `${name}: health`);
    if (service.build === undefined) t.match(service.image, /:(?!latest)[\w.-]*\d/, `${name}: a version`);
  }
  const published = services.filter(([, { ports }]) => ports).map(([name, { ports }]) => [name, ports]);
  t.strictSame(published, [
    ['front', ['127.0.0.1:8787:8787']],
    ['minio', ['127.0.0.1:9000:9000']],
  ]);
  const mounted = services.flatMap(([name, { volumes = [] }]) => volumes.map((volume) => [name, volume]));
  t.strictSame(mounted, [
    ['gateway', 'journals:/data'],
    ['worker', 'worker:/data'],
    ['redis', 'redis:/data'],
    ['kafka', 'kafka:/var/lib/kafka/data'],
    ['clickhouse', 'clickhouse:/var/lib/clickhouse'],
    ['qdrant', 'qdrant:/qdrant/storage'],
    ['minio', 'minio:/data'],
  ]);
  t.strictSame(
    Object.keys(compose.volumes).sort(),
    mounted.map(([, volume]) => volume?.split(':')[0]).sort(),
  );
  t.match(named('redis').command?.join(' '), '--appendonly yes');
});

t.test('the HAProxy configuration is valid', { skip: !hasHaproxy && 'no haproxy on PATH' }, async (t) => {
  const file = join(t.testdir({ 'haproxy.cfg': compose.configs.front.content }), 'haproxy.cfg');
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8', timeout: 20_000 });
  t.equal(status, 0, stderr);
});

t.test('its passwords appear nowhere else', async (t) => {
  const passwords = ['sluice-minio', 'sluice:sluice@'];
  const folders = ['src', 'pipelines', 'schemas', 'docs', 'examples', 'bench', 'bin'];
  const files = [
    ...readdirSync(root).filter((name) => /\.(yaml|json|md)$|^Dockerfile$/.test(name)),
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length)),
    ),
    // Built from the files that are read here.
  ].filter((file) => !file.startsWith('docs/.vitepress/dist/'));
  t.strictSame(
    files.filter((file) => passwords.some((password) => read(file).includes(password))),
    [],
  );
});

t.test('the image', async (t) => {
  const bases = stages.map((stage) => all(stage, 'FROM')[0]?.split(' ')[0]);
  t.equal(new Set(bases).size, 1, 'built where it runs');
  const major = /^node:(\d+)-trixie-slim$/.exec(bases[0] ?? '')?.[1];
  // Long-term releases of Node by the version of their binaries.
  const binaries = new Map([['24', '137']]).get(major ?? '');
  for (const machine of ['x64', 'arm64'])
    t.ok(
      existsSync(join(root, `node_modules/uWebSockets.js/uws_linux_${machine}_${binaries}.node`)),
      `uWebSockets.js runs on Node ${major}, ${machine}`,
    );

  const ignored = new Set(read('.dockerignore').split('\n'));
  const needed = ['bin', ...(JSON.parse(read('tsconfig.build.json')) as { include: string[] }).include];
  t.strictSame(
    needed.filter((name) => ignored.has(name)),
    [],
  );
  for (const stage of stages)
    for (const rest of all(stage, 'COPY')) {
      const sources = rest.split(' ').slice(0, -1);
      if (sources[0]?.startsWith('--from=')) {
        t.ok(['/sluice/node_modules', '/sluice/dist'].includes(sources[1] ?? ''), rest);
        continue;
      }
      for (const source of sources)
        t.ok(existsSync(join(root, source)) && !ignored.has(source), `${source} is there`);
    }

  const config = loadConfig(environmentOf(image));
  t.strictSame(all(image, 'USER'), ['node']);
  t.strictSame(all(image, 'VOLUME'), [config.dataDir]);
  t.strictSame(all(image, 'EXPOSE'), [`${config.port} ${config.admin?.port}`]);
  t.match(all(image, 'HEALTHCHECK')[0], `127.0.0.1:${config.admin?.port}/readyz`);
  const [program, ...words] = JSON.parse(all(image, 'ENTRYPOINT')[0] ?? '[]') as string[];
  t.equal(program, 'node');
  t.ok(existsSync(join(root, words.at(-1) ?? '')));
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  t.equal([program, ...words, 'serve'].join(' '), scripts.start);
  t.ok(
    read('bin/sluice.mjs').startsWith(`#!/usr/bin/env -S ${[program, ...words.slice(0, -1)].join(' ')}\n`),
  );
  const [command] = JSON.parse(all(image, 'CMD')[0] ?? '[]') as string[];
  t.ok(commands.some(({ name }) => name === command));
  t.match(
    all(stages[0] ?? [], 'ARG')[0],
    /^UWEBSOCKETS=https:\/\/github\.com\/uNetworking\/uWebSockets\.js\/archive\/refs\/tags\/v\d+\.\d+\.\d+\.tar\.gz$/,
  );
});
