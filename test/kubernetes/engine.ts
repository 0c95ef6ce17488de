/** The engine of the test cluster: simulators behind a Service, as manifests. */
import type { Api, ApiObject } from './api.ts';

const labels = { app: 'vllm' };
const place = { namespace: 'models', name: 'vllm' };

export const engineManifests = (replicas: number): readonly ApiObject[] => [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: place,
    spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  } as ApiObject,
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: place,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 30,
          automountServiceAccountToken: false,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [
            {
              name: 'engine',
              image: 'sluice',
              // 250 tokens take five seconds.
              args: ['simulate', '--host', '$(POD_IP)', '--port', '8000', '--rate', '50'],
              env: [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
              ports: [{ name: 'http', containerPort: 8000 }],
              readinessProbe: {
                httpGet: { path: '/v1/models', port: 'http' },
                periodSeconds: 1,
                timeoutSeconds: 2,
              },
              // Longer than a stream: those that run are finished.
              lifecycle: { preStop: { sleep: { seconds: 8 } } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
            },
          ],
        },
      },
    },
  } as ApiObject,
];

export const setEngineReplicas = (api: Api, replicas: number): Promise<void> =>
  api.patch(`/apis/apps/v1/namespaces/${place.namespace}/deployments/${place.name}/scale`, {
    spec: { replicas },
  });
