/** The parts of a pod that the test's node reads, and the environment and arguments of its container. */
import type { Api } from './api.ts';

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly [Container];
    readonly volumes?: readonly Volume[];
    readonly securityContext?: { readonly runAsUser?: number };
  };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly Variable[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
  readonly projected?: { readonly sources: readonly Source[] };
}

interface Source {
  readonly serviceAccountToken?: { readonly path: string; readonly expirationSeconds: number };
  readonly configMap?: {
    readonly name: string;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
  readonly downwardAPI?: { readonly items: readonly { readonly path: string }[] };
}

const decoded = (data: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );

type WithData = { readonly data?: Readonly<Record<string, string>> };

export const variablesOf = async (
  api: Api,
  { metadata, spec }: Pod,
  address: string,
): Promise<Readonly<Record<string, string>>> => {
  const variables: Record<string, string> = {};
  for (const { name, value = '', valueFrom } of spec.containers[0].env ?? []) {
    const { secretKeyRef, fieldRef } = valueFrom ?? {};
    if (secretKeyRef !== undefined) {
      const secret = await api.get<WithData>(
        `/api/v1/namespaces/${metadata.namespace}/secrets/${secretKeyRef.name}`,
      );
      const found = decoded(secret.data)[secretKeyRef.key];
      if (found === undefined) throw new Error(`the secret ${secretKeyRef.name} has no ${secretKeyRef.key}`);
      variables[name] = found;
    } else if (fieldRef?.fieldPath === 'status.podIP') variables[name] = address;
    else variables[name] = value;
  }
  return variables;
};

export const argumentsOf = ({ spec }: Pod, variables: Readonly<Record<string, string>>): readonly string[] =>
  (spec.containers[0].args ?? []).map((arg) =>
    arg.replace(/\$\((\w+)\)/g, (all, name: string) => variables[name] ?? all),
  );

/** Files of a volume by their names; undefined: an empty folder. */
export const filesOf = async (
  api: Api,
  { metadata, spec }: Pod,
  volume: Volume,
): Promise<Readonly<Record<string, string>> | undefined> => {
  const place = `/api/v1/namespaces/${metadata.namespace}`;
  if (volume.configMap !== undefined)
    return (await api.get<WithData>(`${place}/configmaps/${volume.configMap.name}`)).data ?? {};
  if (volume.secret !== undefined)
    return decoded((await api.get<WithData>(`${place}/secrets/${volume.secret.secretName}`)).data);
  if (volume.projected === undefined) return undefined;
  const files: Record<string, string> = {};
  for (const { serviceAccountToken, configMap, downwardAPI } of volume.projected.sources) {
    if (serviceAccountToken !== undefined) {
      const { status } = await api.post<{ readonly status: { readonly token: string } }>(
        `${place}/serviceaccounts/${spec.serviceAccountName}/token`,
        {
          spec: {
            expirationSeconds: serviceAccountToken.expirationSeconds,
            boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: metadata.name, uid: metadata.uid },
          },
        },
      );
      files[serviceAccountToken.path] = status.token;
    }
    if (configMap !== undefined) {
      const { data = {} } = await api.get<WithData>(`${place}/configmaps/${configMap.name}`);
      for (const { key, path } of configMap.items) files[path] = data[key] ?? '';
    }
    for (const { path } of downwardAPI?.items ?? []) files[path] = metadata.namespace;
  }
  return files;
};
