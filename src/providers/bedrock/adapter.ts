import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure/failure-meaning.ts';
import { invokePath } from '../../wire/rerank/bedrock/format.ts';
import type { CallContext, Connection, ConnectionSetup, FailedAnswer, ProviderAdapter } from '../contract.ts';
import { readBedrockCredential } from './credential.ts';
import { dialectOf } from './dialect.ts';
import { bedrockOptions, readBedrockSettings } from './options.ts';
import { createSigningAuthorize } from './sign.ts';

/** Amazon Bedrock's run-time: every model in one format, with signed calls or a key that belongs to Bedrock alone. */
export const bedrockAdapter: ProviderAdapter = {
  id: 'bedrock',
  name: 'Amazon Bedrock',
  unversioned: true,
  apiKeyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  // AWS_ACCESS_KEY_ID, AWS_PROFILE and a machine's role serve other programs; to use them, the configuration needs an
  // entry `bedrock: {}`.
  turnedOnBy: ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_REGION'],
  options: bedrockOptions,
  secretOptions: ['access_key_id', 'secret_access_key', 'session_token'],
  ownHosts: /\.amazonaws\.com(?:\.cn)?$/,
  connect,
  readCredential: readBedrockCredential,
  formats: [{ format: 'converse' }],
  offers: [
    { kind: 'embeddings', format: 'embeddings/bedrock', models: /cohere\./, facts: { maxInputs: 96 } },
    { kind: 'embeddings', format: 'embeddings/bedrock', facts: { maxInputs: 1 } },
    { kind: 'rerank', format: 'rerank/bedrock', models: /cohere\./, path: invokePath },
  ],
  // docs.aws.amazon.com "ListAsyncInvokes", read 2026-11: a list of the caller's own jobs on the run-time's host.
  checkPath: '/async-invoke?maxResults=1',
  dialect: ({ model }) => dialectOf(model),
  authorize,
  classify,
};

function connect(setup: ConnectionSetup): Connection {
  const settings = readBedrockSettings(setup);
  return {
    baseUrl: setup.baseUrl ?? hostOf(settings.region),
    ...(setup.apiKey === undefined && { authorize: createSigningAuthorize(settings) }),
  };
}

function hostOf(region: string): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://bedrock-runtime.${region}.${domain}`;
}

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
}

// docs.aws.amazon.com "Troubleshooting Amazon Bedrock API error codes", read 2026-11. All of them are 400
// ValidationException; a model that cannot be called in this region may be had in the next.
const TOO_LONG =
  /input is too long|prompt is too long|exceed(?:s|ed)? (?:the )?(?:maximum|max|context)|too many (?:input )?tokens/i;
/** langgenius/dify-official-plugins#1767 (2025-09), 567-labs/instructor#1753 (2025-07), langchain-ai/langchain-aws#62 */
const UNSUPPORTED = /model doesn.t support|extraneous key/i;
const NOT_SERVED = /model identifier is invalid|on-demand throughput isn.t supported|end of (?:its|their) life/i;

/** What Bedrock's errors mean where the status misleads. @spec error-13 */
function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const message = error.message ?? '';
  if (error.type === 'ServiceQuotaExceededException' && status === 400) return failureOfMeaning(MEANINGS.rateLimited);
  if (status === 400 && TOO_LONG.test(message)) return failureOfMeaning(MEANINGS.tooLong);
  if (status === 400 && NOT_SERVED.test(message)) return failureOfMeaning(MEANINGS.gone);
  if (status === 400 && UNSUPPORTED.test(message)) return failureOfMeaning(MEANINGS.unsupportedParameter);
  // The model's own time limit and its own failure: "ModelTimeoutException", "ModelErrorException".
  if (status === 424) return failureOfMeaning(MEANINGS.unavailable);
  return undefined;
}
