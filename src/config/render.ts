import { stringify } from 'yaml';
import type { Config, EndpointConfig, ModelConfig, ProviderConfig, Timeouts } from './config.ts';

import { drawPrice } from './endpoint-price.ts';

const REDACTED = '(redacted)';
const BYTES_PER_MB = 1_048_576;

/**
 * The configuration in effect as YAML, in the words of the file, with each secret replaced by `(redacted)`. Header
 * values count as secrets: they carry credentials as often as not. What no file may hold stands in comments.
 */
export function renderConfig(config: Config): string {
  const { server, defaults } = config;
  const body = {
    server: {
      host: server.host,
      port: server.port,
      max_body_mb: server.maxBodyBytes / BYTES_PER_MB,
      drain_seconds: server.drainMs / 1_000,
      region: server.region,
    },
    defaults: {
      model: defaults.model,
      provider: {
        order: defaults.provider.order,
        only: defaults.provider.only,
        ignore: defaults.provider.ignore,
        sort: defaults.provider.sort,
        data_collection: defaults.provider.dataCollection,
        zdr: defaults.provider.zdr,
      },
    },
    timeouts: drawTimeouts(config.timeouts),
    credits: { enforce: config.credits.enforce },
    providers: Object.fromEntries(config.providers.map((provider) => [provider.slug, drawProvider(provider)])),
    beta_flags: config.betaFlags,
    models: Object.fromEntries([
      ...config.models.map((model) => [model.slug, drawModel(model)] as const),
      ...config.passThrough.map(({ prefix, provider }) => [`${prefix}*`, { provider }] as const),
    ]),
  };
  return drawComments(config) + stringify(body, { lineWidth: 0 });
}

function drawComments(config: Config): string {
  const secrets = [
    ['GATEWAY_MANAGEMENT_KEY', config.managementKey],
    ['GATEWAY_API_KEY', config.apiKey],
    ['GATEWAY_SECRET', config.secret],
  ] as const;
  const lines = [
    `file: ${config.path ?? 'none'}`,
    `data directory: ${config.dataDir}`,
    `log level: ${config.logLevel}`,
    ...secrets.map(([name, value]) => `${name}: ${value === undefined ? 'not set' : REDACTED}`),
  ];
  return lines.map((line) => `# ${line}\n`).join('');
}

function drawTimeouts(timeouts: Partial<Timeouts>): Record<string, number | undefined> {
  return {
    connect_ms: timeouts.connectMs,
    headers_ms: timeouts.headersMs,
    first_token_ms: timeouts.firstTokenMs,
    idle_ms: timeouts.idleMs,
    whole_ms: timeouts.wholeMs,
    total_ms: timeouts.totalMs,
  };
}

function drawProvider(provider: ProviderConfig): object {
  return {
    adapter: provider.adapter,
    name: provider.name,
    base_url: provider.baseUrl,
    api_key: provider.apiKey === undefined ? undefined : REDACTED,
    options: drawOptions(provider),
    data_policy: { training: provider.dataPolicy.training, retention_days: provider.dataPolicy.retentionDays },
    headers: Object.fromEntries(Object.keys(provider.headers).map((name) => [name, REDACTED])),
    timeouts: drawTimeouts(provider.timeouts),
  };
}

function drawOptions({ options, secretOptions }: ProviderConfig): object | undefined {
  const names = Object.keys(options);
  if (names.length === 0) return undefined;
  return Object.fromEntries(names.map((name) => [name, secretOptions.includes(name) ? REDACTED : options[name]]));
}

function drawModel(model: ModelConfig): object {
  return {
    name: model.name,
    context_length: model.contextLength,
    max_completion_tokens: model.maxCompletionTokens,
    input_modalities: model.inputModalities,
    output_modalities: model.outputModalities,
    scores: model.scores,
    endpoints: model.endpoints.map(drawEndpoint),
  };
}

function drawEndpoint(endpoint: EndpointConfig): object {
  return {
    provider: endpoint.provider,
    model: endpoint.model,
    price: endpoint.price && drawPrice(endpoint.price),
    quantization: endpoint.quantization,
    supported_parameters: endpoint.supportedParameters,
    context_length: endpoint.contextLength,
    max_completion_tokens: endpoint.maxCompletionTokens,
    min_completion_tokens: endpoint.minCompletionTokens,
  };
}
