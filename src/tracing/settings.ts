/** Reads the standard variables of OpenTelemetry. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ConfigError, type Environment, flag, integer, oneOf, text, url } from '../environment.ts';
import type { SamplerSettings } from './trace-context.ts';
import type { TracingSettings } from './tracing.ts';

/** Undefined: no collector is named, or tracing is switched off. */
export const tracingSettings = (env: Environment): TracingSettings | undefined => {
  const address = collector(env);
  if (address === undefined || flag(env, 'OTEL_SDK_DISABLED')) return undefined;
  if (oneOf(env, 'OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none') return undefined;
  // Collectors accept JSON where they accept protobuf; gRPC is another port and another protocol.
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])
    oneOf(env, name, ['http/json', 'http/protobuf'], 'http/json');
  return {
    url: address,
    headers: {
      ...pairs(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairs(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    timeoutMs: integer(env, 'OTEL_EXPORTER_OTLP_TIMEOUT', 10_000, 1, 600_000),
    sampler: sampler(env),
    resource: {
      'service.name': 'sluice',
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      'process.pid': process.pid,
      ...pairs(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(text(env, 'OTEL_SERVICE_NAME') === undefined
        ? {}
        : { 'service.name': text(env, 'OTEL_SERVICE_NAME') ?? '' }),
    },
  };
};

/** The traces endpoint is used as it is; the common one gets the path of traces appended. */
const collector = (env: Environment): string | undefined => {
  const [own, common] = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const base = url(env, common, ['http:', 'https:']);
  const below = base && `${base}${base.endsWith('/') ? '' : '/'}v1/traces`;
  const address = url(env, own, ['http:', 'https:']) ?? below;
  if (address !== undefined && new URL(address).username + new URL(address).password !== '')
    throw new ConfigError(`${common} must hold no password: OTEL_EXPORTER_OTLP_HEADERS is for that`);
  return address;
};

const roots = ['always_on', 'always_off', 'traceidratio'] as const;
const samplers = [...roots, ...roots.map((root) => `parentbased_${root}` as const)];

const sampler = (env: Environment): SamplerSettings => {
  const name = oneOf(env, 'OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on');
  return { ratio: ratioOf(env, name), parentBased: name.startsWith('parentbased_') };
};

const ratioOf = (env: Environment, name: string): number => {
  if (name.endsWith('always_on')) return 1;
  if (name.endsWith('always_off')) return 0;
  const ratio = Number(text(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1');
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('OTEL_TRACES_SAMPLER_ARG must be from 0 to 1');
  return ratio;
};

/** `name=value,name=value`, values percent-encoded. Errors do not repeat values, which may be secret. */
const pairs = (env: Environment, name: string): Readonly<Record<string, string>> => {
  const entries = (text(env, name) ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair): [string, string] => {
      const [, key, value] = /^\s*([!#$%&'*+\-.^_`|~\dA-Za-z]+)\s*=\s*([\t\x20-\x7e]*?)\s*$/.exec(pair) ?? [];
      if (key === undefined || value === undefined)
        throw new ConfigError(`${name} must be name=value pairs with commas between`);
      return [key, decoded(value)];
    });
  return Object.fromEntries(entries);
};

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};
