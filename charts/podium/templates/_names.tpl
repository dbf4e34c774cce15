{{/* Names and labels that several templates share. */}}
{{- define "podium.labels" -}}
app.kubernetes.io/name: podium
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "podium.selector" -}}
app.kubernetes.io/name: podium
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Cluster-wide objects carry the namespace in their name: two releases must not fight over them. */}}
{{- define "podium.clusterName" -}}
{{ .Release.Namespace }}-{{ .Release.Name }}
{{- end -}}

{{- define "podium.secretName" -}}
{{ .Values.certificate.existingSecret | default (printf "%s-tls" .Release.Name) }}
{{- end -}}

{{/* Who ever calls Podium by URL brings its own process. */}}
{{- define "podium.runsHere" -}}
{{ if not .Values.webhooks.externalURL }}yes{{ end }}
{{- end -}}

{{/*
The certificate as a mapping {crt, key, ca, bundle}, base64; bundle is what the API server trusts. Made once: at an upgrade the stored one
is kept, so that the API server and the running pods never disagree. `helm template` sees no cluster and makes a new one each time. The
result is remembered in .Values, because the Secret and both webhook configurations must show the same. While a renewed one is rolled out,
the old CA is trusted too: the pods that still run would be refused otherwise, and with failurePolicy Fail everything they judge. The next
upgrade without renew drops it.
*/}}
{{- define "podium.certificate" -}}
{{- if not (hasKey .Values "made") -}}
{{- $stored := lookup "v1" "Secret" .Release.Namespace (include "podium.secretName" .) -}}
{{- $made := dict -}}
{{- if .Values.certificate.existingSecret -}}
{{- if not .Values.certificate.caBundle -}}
{{- fail "certificate.caBundle is empty; with certificate.existingSecret give the base64 of the CA's PEM, or - if another tool writes caBundle" -}}
{{- end -}}
{{- $made = dict "ca" (ternary "" .Values.certificate.caBundle (eq .Values.certificate.caBundle "-")) -}}
{{- $_ := set $made "bundle" $made.ca -}}
{{- else if and $stored (not .Values.certificate.renew) -}}
{{- $made = dict "crt" (index $stored.data "tls.crt") "key" (index $stored.data "tls.key") "ca" (index $stored.data "ca.crt") -}}
{{- $_ := set $made "bundle" $made.ca -}}
{{- else -}}
{{- $service := printf "%s.%s.svc" .Release.Name .Release.Namespace -}}
{{- $names := concat (list $service (printf "%s.cluster.local" $service)) .Values.certificate.names -}}
{{- $ca := genCA (printf "%s CA" $service) (int .Values.certificate.days) -}}
{{- $leaf := genSignedCert $service .Values.certificate.addresses $names (int .Values.certificate.days) $ca -}}
{{- $made = dict "crt" ($leaf.Cert | b64enc) "key" ($leaf.Key | b64enc) "ca" ($ca.Cert | b64enc) -}}
{{- $old := "" -}}
{{- if $stored -}}
{{- $old = index $stored.data "ca.crt" | default "" | b64dec -}}
{{- end -}}
{{- $_ := set $made "bundle" (printf "%s%s" $ca.Cert $old | b64enc) -}}
{{- end -}}
{{- $_ := set .Values "made" $made -}}
{{- end -}}
{{- .Values.made | toJson -}}
{{- end -}}
