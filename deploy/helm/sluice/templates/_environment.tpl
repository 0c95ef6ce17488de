{{- /* The environment variables of each component, and whether one is set. */ -}}

{{- /* "true" where a variable is set: sluice.sets (list . "REDIS_URL"). */ -}}
{{- define "sluice.sets" -}}
{{- $root := index . 0 -}}{{- $name := index . 1 -}}
{{- if or (hasKey $root.Values.settings $name) (hasKey $root.Values.secret.create $name) (hasKey $root.Values.secret.existing $name) -}}true{{- end -}}
{{- end -}}

{{- define "sluice.hasCatalog" -}}
{{- if or .Values.catalog .Values.existingCatalog -}}true{{- end -}}
{{- end -}}

{{- /* Those that follow from other values. */ -}}
{{- define "sluice.derived" -}}
{{- $values := .root.Values -}}
{{- $derived := dict "SLUICE_ADMIN_HOST" $values.listen "SLUICE_ADMIN_PORT" "9787" "SLUICE_DATA" "/data" "SLUICE_DRAIN_SECONDS" (.values.drainSeconds | toString) -}}
{{- if eq .component "gateway" -}}
{{- $renders := ternary 0 .values.renders $values.worker.enabled -}}
{{- $_ := merge $derived (dict "HOST" $values.listen "PORT" "8787" "SLUICE_WORKERS" (toString $renders)) -}}
{{- if $values.tls.secretName }}{{ $_ := merge $derived (dict "SLUICE_TLS_CERT" "/etc/sluice-tls/tls.crt" "SLUICE_TLS_KEY" "/etc/sluice-tls/tls.key") }}{{ end -}}
{{- end -}}
{{- if eq .component "worker" }}{{ $_ := set $derived "SLUICE_WORKERS" (.values.renders | toString) }}{{ end -}}
{{- if ne .component "billing" -}}
{{- if include "sluice.hasCatalog" .root }}{{ $_ := set $derived "SLUICE_CONFIG" "/etc/sluice/sluice.yaml" }}{{ end -}}
{{- if $values.billing.enabled }}{{ $_ := set $derived "SLUICE_BILLING" "apart" }}{{ end -}}
{{- end -}}
{{- toYaml $derived -}}
{{- end -}}

{{- /* Billing talks to Kafka and ClickHouse, and gets nothing that opens other stores. */ -}}
{{- define "sluice.wants" -}}
{{- if not (and (eq (index . 0) "billing") (regexMatch "^(REDIS|S3|QDRANT)_|^SLUICE_(BOOTSTRAP_KEY|ADMIN_TOKEN)$" (index . 1))) -}}true{{- end -}}
{{- end -}}

{{- define "sluice.environment" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- range $name, $value := include "sluice.derived" . | fromYaml }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $name, $value := $root.Values.settings }}
{{- if include "sluice.wants" (list $component $name) }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- range $name, $value := $root.Values.secret.create }}
{{- if include "sluice.wants" (list $component $name) }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ include "sluice.fullname" $root }}, key: {{ $name }} } }
{{- end }}
{{- end }}
{{- range $name, $from := $root.Values.secret.existing }}
{{- if include "sluice.wants" (list $component $name) }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key | default $name }} } }
{{- end }}
{{- end }}
{{- end -}}
