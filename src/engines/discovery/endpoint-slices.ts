/** Reads replicas from the EndpointSlices of a Kubernetes service. */
import Type, { type Static } from 'typebox';
import type { ReplicaAddress } from '../pool/membership.ts';
import { addressUrl, type Service } from './source.ts';

/** The fields that are read here; all others are ignored. */
export const EndpointSlice = Type.Object({
  metadata: Type.Object({ name: Type.String(), resourceVersion: Type.Optional(Type.String()) }),
  addressType: Type.Optional(Type.String()),
  endpoints: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Array(
        Type.Object({
          addresses: Type.Array(Type.String()),
          conditions: Type.Optional(
            Type.Object({
              ready: Type.Optional(Type.Union([Type.Null(), Type.Boolean()])),
              terminating: Type.Optional(Type.Union([Type.Null(), Type.Boolean()])),
            }),
          ),
        }),
      ),
    ]),
  ),
  ports: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Array(
        Type.Object({
          name: Type.Optional(Type.Union([Type.Null(), Type.String()])),
          port: Type.Optional(Type.Union([Type.Null(), Type.Integer()])),
        }),
      ),
    ]),
  ),
});
export type EndpointSlice = Static<typeof EndpointSlice>;

/** Endpoints that are ready, in a stable order. One that is in two slices, as while it moves, counts once. */
export const replicasOf = (service: Service, slices: Iterable<EndpointSlice>): readonly ReplicaAddress[] => {
  const { scheme, name, namespace, path } = service;
  const urls = new Set<string>();
  for (const slice of slices) {
    const port = portOf(slice, service.port);
    if (port === undefined || slice.addressType === 'FQDN') continue;
    for (const { addresses, conditions } of slice.endpoints ?? []) {
      // The addresses of one endpoint are interchangeable. A missing condition means ready.
      const [address] = addresses;
      if (address === undefined || conditions?.ready === false || conditions?.terminating === true) continue;
      urls.add(addressUrl(scheme, address, port, path));
    }
  }
  const host = `${name}.${namespace}.svc`;
  return [...urls].sort().map((url) => ({ url, host }));
};

const portOf = ({ ports }: EndpointSlice, wanted: string | undefined): number | undefined => {
  const list = ports ?? [];
  const found =
    wanted === undefined
      ? list.length === 1
        ? list[0]
        : undefined
      : list.find(({ name, port }) => name === wanted || String(port) === wanted);
  return found?.port ?? undefined;
};
