{{/* The policy's text: the user's, or the shipped one (files/default.yaml is a link to policies/default.yaml). */}}
{{- define "podium.policy" -}}
{{- .Values.policy | default (.Files.Get "files/default.yaml") -}}
{{- end -}}
