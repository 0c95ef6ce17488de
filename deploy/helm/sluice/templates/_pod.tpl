{{- /*
The pod template of a component: sluice.pod (dict "root" . "component" "gateway" "values" .Values.gateway "args" (list "serve")).
The namespace may enforce the "restricted" Pod Security Standard.
*/ -}}
{{- define "sluice.pod" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $isGateway := eq .component "gateway" -}}
{{- $hasCatalog := and (ne .component "billing") (include "sluice.hasCatalog" $root) -}}
{{- $tls := and $isGateway $root.Values.tls.secretName -}}
metadata:
  labels:
    {{- include "sluice.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $values.podLabels }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- /* A changed catalog needs no restart: processes reload the file. Changed variables do. */}}
  annotations:
    kubectl.kubernetes.io/default-container: sluice
    {{- with $root.Values.secret.create }}
    checksum/secret: {{ toJson . | sha256sum }}
    {{- end }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "sluice.serviceAccount" $root }}
  {{- /* Only discovery talks to the API server. */}}
  automountServiceAccountToken: {{ and (ne .component "billing") (gt (len $root.Values.discovery.namespaces) 0) }}
  enableServiceLinks: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  terminationGracePeriodSeconds: {{ include "sluice.graceSeconds" $values }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - topologyKey: {{ .topologyKey }}
      maxSkew: {{ .maxSkew }}
      whenUnsatisfiable: {{ .whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "sluice.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $.component }}
      # Pods of the revision that is being replaced do not count.
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- end }}
  containers:
    - name: sluice
      image: {{ include "sluice.image" (dict "root" $root "values" $values) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ toJson .args }}
      env:
        {{- include "sluice.environment" . | trim | nindent 8 }}
      ports:
        {{- if $isGateway }}
        - { name: http, containerPort: 8787 }
        {{- end }}
        - { name: admin, containerPort: 9787 }
      {{- /* Liveness is the event loop alone: a restart repairs no engine and no service. */}}
      startupProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: {{ div (add $values.startupSeconds 1) 2 }}
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 5
        # Its own checks take at most two seconds.
        timeoutSeconds: 4
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      {{- if $values.preStopSeconds }}
      lifecycle:
        # Load balancers learn in this time that the pod is going; then SIGTERM begins the drain.
        preStop: { sleep: { seconds: {{ $values.preStopSeconds }} } }
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources: {{- toYaml $values.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $hasCatalog }}
        # The folder, not the file: a file by subPath would never change.
        - { name: catalog, mountPath: /etc/sluice, readOnly: true }
        {{- end }}
        {{- if $tls }}
        - { name: tls, mountPath: /etc/sluice-tls, readOnly: true }
        {{- end }}
        {{- with $root.Values.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    {{- include "sluice.dataVolume" . | nindent 4 }}
    - { name: tmp, emptyDir: { sizeLimit: 4Gi } }
    {{- if $hasCatalog }}
    - { name: catalog, configMap: { name: {{ $root.Values.existingCatalog | default (printf "%s-catalog" (include "sluice.fullname" $root)) }} } }
    {{- end }}
    {{- if $tls }}
    - { name: tls, secret: { secretName: {{ $tls }} } }
    {{- end }}
    {{- with $root.Values.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}

{{- /* preStop, the drain, the 5 s in which a process closes its stores, and 5 s to spare. */ -}}
{{- define "sluice.graceSeconds" -}}
{{- add (.preStopSeconds | default 0) .drainSeconds 10 -}}
{{- end -}}

{{- define "sluice.dataVolume" -}}
{{- $data := .values.data | default dict -}}
{{- if or $data.claim $data.create -}}
- { name: data, persistentVolumeClaim: { claimName: {{ $data.claim | default (printf "%s-data" (include "sluice.fullname" .root)) }} } }
{{- else -}}
- { name: data, emptyDir: { sizeLimit: {{ $data.size | default "1Gi" }} } }
{{- end -}}
{{- end -}}
