import type { Service } from '../../../src/telemetry/destinations/contract.ts';
import type { JsonObject } from '../../../src/lib/json.ts';

export const PROJECT_ID = '3f0b5c4e-1111-4222-8333-444455556666';

/** A configuration of each kind. */
export const DESTINATION_CONFIGS: Readonly<Record<string, JsonObject>> = {
  arize: { apiKey: 'key', spaceKey: 'space', modelId: 'shop' },
  braintrust: { apiKey: 'key', projectId: PROJECT_ID },
  clickhouse: { host: 'https://ch.example:8443', database: 'db', username: 'u', password: 'pass' },
  datadog: { apiKey: 'key', mlApp: 'shop', url: 'https://api.us5.datadoghq.com' },
  grafana: { baseUrl: 'https://otlp-gateway-prod-eu-west-0.grafana.net', instanceId: '42', apiKey: 'glc_key' },
  langfuse: { publicKey: 'pk-lf-1', secretKey: 'sk-lf-1' },
  langsmith: { apiKey: 'key', project: 'shop', workspaceId: PROJECT_ID },
  newrelic: { licenseKey: 'key', region: 'eu' },
  opik: { apiKey: 'key', workspace: 'team', projectName: 'shop' },
  'otel-collector': { endpoint: 'https://otel.example' },
  'otel-metrics': { endpoint: 'https://otel.example' },
  posthog: { apiKey: 'phc_key' },
  ramp: { apiKey: 'key' },
  s3: { bucketName: 'bucket', accessKeyId: 'AKID', secretAccessKey: 'secret', region: 'eu-central-1' },
  sentry: {
    dsn: 'https://abc123@o1.ingest.us.sentry.io/77',
    otlpEndpoint: 'https://o1.ingest.us.sentry.io/api/77/integration/otlp',
  },
  snowflake: { account: 'my_org-acc', token: 'pat' },
  weave: { apiKey: 'key', entity: 'team', project: 'shop' },
  webhook: { url: 'https://hooks.example/x' },
};

/** What sends. */
export const SERVICE: Service = {
  name: 'shop',
  version: '1.2.3',
  instanceId: 'f7c0a1f2-55a5-4cd0-8d54-3d2e6d1b4d0e',
  region: 'eu',
  environment: 'staging',
};
