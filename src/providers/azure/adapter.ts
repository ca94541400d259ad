import type { AnyFormatId } from '../../canonical/extra.ts';
import { encodePathSegment } from '../../lib/net/path-segment.ts';
import { SettingError } from '../contract.ts';
import type { CallContext, Connection, ConnectionSetup, FormatOffer, ProviderAdapter } from '../contract.ts';
import { readAzureCredential } from './credential.ts';
import { createEntraAuthorize } from './entra-token.ts';
import { azureOptions, readAzureSettings } from './options.ts';

/** What the makers of the models that it serves know of them. */
export interface AzureFamilies {
  readonly openAi: ProviderAdapter;
  readonly claude: ProviderAdapter;
}

const CLAUDE_VERSION = '2023-06-01';
const FOUNDRY_HOST = /\.services\.ai\.azure\.com$/;

/**
 * Azure: OpenAI's formats at a resource of the operator, where `model` is the name of a deployment. Foundry resources
 * also serve Claude.
 */
export function createAzureAdapter({ openAi, claude }: AzureFamilies): ProviderAdapter {
  return {
    id: 'azure',
    name: 'Azure',
    unversioned: true,
    apiKeyVariable: 'AZURE_OPENAI_API_KEY',
    turnedOnBy: ['AZURE_OPENAI_API_KEY', 'AZURE_OPENAI_ENDPOINT'],
    options: azureOptions,
    secretOptions: ['client_secret'],
    ownHosts: /\.azure\.(?:com|us|cn)$/,
    connect,
    readCredential: readAzureCredential,
    offers: [
      { kind: 'embeddings', format: 'embeddings/openai', facts: { maxInputs: 2_048, tokenArrays: true } },
      // learn.microsoft.com "Image generation models in Azure OpenAI", read 2026-11.
      { kind: 'image', format: 'image/openai', image: { nMax: 10, referencesMax: 16, mask: true, seed: false } },
    ],
    formats: [{ format: 'chat' }, { format: 'responses' }, { format: 'messages', basePath: '/anthropic/v1' }],
    formatsOf: (model) => (isClaude(model) ? ['messages'] : (openAi.formatsOf?.(model) ?? ['chat', 'responses'])),
    toolFormatsOf: (model) => (isClaude(model) ? undefined : openAi.toolFormatsOf?.(model)),
    cancellable: true,
    dialect: (context) => {
      if (context.format === 'messages') return { ...claude.dialect(context), readsAttribution: false };
      // @spec reasoning-16: OpenAI cannot read back what was encrypted here, nor the reverse.
      return { ...openAi.dialect(context), reasoningFamily: 'azure-openai-responses-v1' };
    },
    authorize,
    ...(claude.classify !== undefined && { classify: claude.classify.bind(claude) }),
  };
}

function connect(setup: ConnectionSetup): Connection {
  const { baseUrl, apiVersion, entra } = readAzureSettings(setup);
  // An address of the operator's choice may add a key on the way.
  if (entra === undefined && setup.apiKey === undefined && setup.baseUrl === undefined)
    throw new SettingError('api_key', 'is required, or options.entra: true');
  return {
    baseUrl,
    formats: [...openAiOffers(apiVersion), ...claudeOffers(baseUrl)],
    ...(apiVersion !== undefined && { checkPath: `/models?api-version=${apiVersion}` }),
    // A key for other resources does not override a requested identity.
    ...(entra !== undefined && { authorize: withVersion(createEntraAuthorize(entra)) }),
  };
}

function openAiOffers(apiVersion: string | undefined): readonly FormatOffer[] {
  if (apiVersion === undefined) return [{ format: 'chat' }, { format: 'responses' }];
  const query = `?api-version=${apiVersion}`;
  return [
    { format: 'chat', path: ({ model }) => `/deployments/${encodePathSegment(model)}/chat/completions${query}` },
    { format: 'responses', path: () => `/responses${query}` },
  ];
}

/** platform.claude.com "Claude in Microsoft Foundry", read 2026-11. */
function claudeOffers(baseUrl: string): readonly FormatOffer[] {
  const isFoundry = FOUNDRY_HOST.test(new URL(baseUrl).hostname);
  return isFoundry ? [{ format: 'messages', basePath: '/anthropic/v1' }] : [];
}

/** Deployments bear any name; one that is not called after its model is taken for one of OpenAI's. */
function isClaude(model: string): boolean {
  return /claude/i.test(model);
}

function authorize({ settings, format }: CallContext): Readonly<Record<string, string>> {
  const { apiKey } = settings;
  if (apiKey === undefined) return versionFor(format);
  return format === 'messages' ? { ...versionFor(format), 'x-api-key': apiKey } : { 'api-key': apiKey };
}

function withVersion(authorizeCall: ReturnType<typeof createEntraAuthorize>): typeof authorizeCall {
  return async (call) => ({ ...versionFor(call.format), ...(await authorizeCall(call)) });
}

function versionFor(format: AnyFormatId): Readonly<Record<string, string>> {
  return format === 'messages' ? { 'anthropic-version': CLAUDE_VERSION } : {};
}
