{{- /* Names, labels and the image of a component. */ -}}

{{- define "sluice.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- /* Short enough for the longest suffix, and for the names that Kubernetes derives. */ -}}
{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "sluice.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Of every pod of this release; they never change, as selectors cannot. */ -}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "sluice.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "sluice.fullname" .) "default" .Values.serviceAccount.create) -}}
{{- end -}}

{{- /* A tag of the component comes first: it is how billing and workers are upgraded before gateways. A digest pins all of them. */ -}}
{{- define "sluice.image" -}}
{{- $image := .root.Values.image -}}
{{- $tag := .values.image.tag | default $image.tag | default .root.Chart.AppVersion -}}
{{- if and $image.digest (not .values.image.tag) -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository $tag -}}
{{- end -}}
{{- end -}}
