{{- /* Refuses values that each are valid, but do not work together. */ -}}
{{- define "sluice.checks" -}}
{{- $values := .Values -}}
{{- $gateway := $values.gateway -}}
{{- $several := or $gateway.autoscaling.enabled (gt (int $gateway.replicas) 1) -}}

{{- /* One place for each variable: of two the kubelet would take one in silence. */ -}}
{{- $derived := list "HOST" "PORT" "SLUICE_ADMIN_HOST" "SLUICE_ADMIN_PORT" "SLUICE_DATA" "SLUICE_DRAIN_SECONDS" "SLUICE_CONFIG" "SLUICE_TLS_CERT" "SLUICE_TLS_KEY" "SLUICE_WORKERS" "SLUICE_BILLING" -}}
{{- $seen := dict -}}
{{- range $place, $variables := dict "settings" $values.settings "secret.create" $values.secret.create "secret.existing" $values.secret.existing -}}
{{- range $name, $_ := $variables -}}
{{- if has $name $derived }}{{ fail (printf "%s.%s: the chart sets this variable from other values" $place $name) }}{{ end -}}
{{- if hasKey $seen $name }}{{ fail (printf "%s.%s: this variable is also in %s" $place $name (get $seen $name)) }}{{ end -}}
{{- $_ := set $seen $name $place -}}
{{- end -}}
{{- end -}}

{{- if and $several (not (include "sluice.sets" (list . "REDIS_URL"))) -}}
{{- fail "gateway.replicas: several gateways need REDIS_URL, in settings or secret: without it each has its own keys and limits" -}}
{{- end -}}
{{- if $values.worker.enabled -}}
{{- if not (include "sluice.sets" (list . "REDIS_URL")) }}{{ fail "worker.enabled: workers need REDIS_URL, in settings or secret" }}{{ end -}}
{{- if not (include "sluice.sets" (list . "S3_BUCKET")) }}{{ fail "worker.enabled: workers need S3_BUCKET, in settings or secret: gateways serve what they render" }}{{ end -}}
{{- end -}}
{{- if $values.billing.enabled -}}
{{- if not (include "sluice.sets" (list . "KAFKA_BROKERS")) }}{{ fail "billing.enabled: billing needs KAFKA_BROKERS, in settings or secret" }}{{ end -}}
{{- if not (include "sluice.sets" (list . "CLICKHOUSE_URL")) }}{{ fail "billing.enabled: billing needs CLICKHOUSE_URL, in settings or secret: gateways read usage from there" }}{{ end -}}
{{- end -}}

{{- if and $gateway.data.create $gateway.data.claim }}{{ fail "gateway.data.claim: leave it empty where gateway.data.create makes a claim" }}{{ end -}}
{{- if and $several $gateway.data.create (ne $gateway.data.accessMode "ReadWriteMany") -}}
{{- fail "gateway.data.accessMode: several gateways can only share a claim with ReadWriteMany" -}}
{{- end -}}
{{- if and $gateway.autoscaling.enabled (gt (int $gateway.autoscaling.minReplicas) (int $gateway.autoscaling.maxReplicas)) -}}
{{- fail "gateway.autoscaling.minReplicas: must not be above maxReplicas" -}}
{{- end -}}
{{- if and $gateway.autoscaling.enabled (not (or $gateway.autoscaling.inFlight $gateway.autoscaling.queued $gateway.autoscaling.cpu)) -}}
{{- fail "gateway.autoscaling: one of inFlight, queued and cpu must be above 0" -}}
{{- end -}}
{{- if and $values.catalog $values.existingCatalog }}{{ fail "existingCatalog: leave it empty where catalog has the text" }}{{ end -}}
{{- if and $values.ingress.enabled (not $values.ingress.host) }}{{ fail "ingress.host: must be set" }}{{ end -}}

{{- /* Without the permission an engine would have no replicas, and only the log would say why. */ -}}
{{- $catalog := regexReplaceAll "(?m)(^|\\s)#.*$" $values.catalog "" -}}
{{- range $source := regexFindAll "k8s\\+https?://[^/:\\s'\"]+\\.[^/:\\s'\"]+" $catalog -1 -}}
{{- $parts := splitList "." (regexReplaceAll "^.*//" $source "") -}}
{{- if not (has (index $parts 1) $values.discovery.namespaces) -}}
{{- fail (printf "discovery.namespaces: %s of the catalog needs the namespace %q in the list" $source (index $parts 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
