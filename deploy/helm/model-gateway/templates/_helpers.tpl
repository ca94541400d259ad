{{- define "gateway.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "gateway.labels" -}}
app.kubernetes.io/name: model-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: model-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gateway.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "gateway.pod" -}}
metadata:
  labels:
    {{- include "gateway.labels" . | nindent 4 }}
  annotations:
    checksum/config: {{ toYaml .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  {{- if .Values.serviceAccount.name }}
  serviceAccountName: {{ .Values.serviceAccount.name }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gateway.selector" . | nindent 10 }}
  containers:
    - name: gateway
      image: {{ include "gateway.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve, --config, /etc/model-gateway/gateway.yaml]
      ports:
        - { name: http, containerPort: 8787 }
      env:
        - { name: GATEWAY_HOST, value: 0.0.0.0 }
        - { name: GATEWAY_PORT, value: "8787" }
        - { name: GATEWAY_DATA_DIR, value: /data }
        {{- if .Values.database.urlSecret.name }}
        - name: DATABASE_URL
          valueFrom:
            secretKeyRef: { name: {{ .Values.database.urlSecret.name }}, key: {{ .Values.database.urlSecret.key }} }
        {{- end }}
        {{- if .Values.redis.urlSecret.name }}
        - name: REDIS_URL
          valueFrom:
            secretKeyRef: { name: {{ .Values.redis.urlSecret.name }}, key: {{ .Values.redis.urlSecret.key }} }
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if .Values.envFromSecrets }}
      envFrom:
        {{- range .Values.envFromSecrets }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      {{- end }}
      # Migrations of a large database may take minutes before the gateway listens.
      startupProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 2
        failureThreshold: 300
      readinessProbe:
        httpGet: { path: /health/ready, port: http }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /health/live, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        # Nodes learn later than the gateway that it ends.
        preStop: { exec: { command: [sleep, "{{ .Values.drainDelaySeconds }}"] } }
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /etc/model-gateway, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ include "gateway.name" . }} }
    - name: tmp
      emptyDir: { sizeLimit: 1Gi }
    {{- if not .Values.persistence.enabled }}
    - name: data
      emptyDir: { medium: Memory, sizeLimit: 256Mi }
    {{- end }}
{{- end -}}
