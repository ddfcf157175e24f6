{{- define "plinth.name" -}}
{{- $name := ternary .Release.Name (printf "%s-plinth" .Release.Name) (contains "plinth" .Release.Name) -}}
{{- trunc 52 $name | trimSuffix "-" -}}
{{- end -}}

{{- define "plinth.selector" -}}
app.kubernetes.io/name: plinth
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "plinth.metadata" -}}
name: {{ include "plinth.name" . }}
labels:
  {{- include "plinth.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "plinth.claim" -}}
- metadata:
    name: {{ .name }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with .values.storageClass }}
    storageClassName: {{ . | quote }}
    {{- end }}
    resources:
      requests: { storage: {{ .values.size | quote }} }
{{- end -}}

{{/* Refuses values that would lose data: files and backups in the volume of a pod that ends with it. */}}
{{- define "plinth.check" -}}
{{- $_ := required "publicUrl is required: the URL that clients use, such as https://plinth.example.com" .Values.publicUrl -}}
{{- if eq .Values.mode "replicas" -}}
{{- $_ := required "existingSecret is required with mode replicas: a secret with DATABASE_URL, REDIS_URL, PLATFORM_ADMIN_KEY and MASTER_KEY" .Values.existingSecret -}}
{{- if not (has .Values.settings.STORAGE_PROVIDER (list "s3" "gcs")) -}}
{{- fail "settings.STORAGE_PROVIDER must be s3 or gcs with mode replicas: the pods share no disk" -}}
{{- end -}}
{{- if not (regexMatch "^(s3|gs)://" .Values.backups.url) -}}
{{- fail "backups.url must be s3://... or gs://... with mode replicas: the volume of a pod ends with it" -}}
{{- end -}}
{{- else if ne (int .Values.replicas) 1 -}}
{{- fail "replicas must be 1 with mode single: a data directory serves one process" -}}
{{- end -}}
{{- end -}}
