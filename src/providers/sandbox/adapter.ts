import type { Dialect } from '../../wire/format.ts';
import type { CallContext, ProviderAdapter } from '../contract.ts';

/** Everything that the sandbox's server understands, so that all settings of a request reach it. */
const DIALECT: Dialect = {
  developerRole: true,
  maxCompletionTokens: true,
  reasoningMember: 'reasoning_content',
  reasoningSettings: 'reasoning_effort',
  cacheBreakpoints: 'cache_control',
  endUserMember: 'safety_identifier',
  messageNames: true,
  streamUsage: true,
  thinking: 'adaptive',
  efforts: ['xhigh', 'max'],
  vendor: true,
  structuredOutput: true,
};

/** The upstream inside the gateway. The composition root passes its address. */
export const sandboxAdapter: ProviderAdapter = {
  id: 'sandbox',
  name: 'Sandbox',
  formats: [{ format: 'chat' }, { format: 'messages' }],
  offers: [
    {
      kind: 'embeddings',
      format: 'embeddings/openai',
      dialect: { content: 'parts' },
      facts: { tokenArrays: true },
    },
    { kind: 'video', format: 'video/xai', models: /^(?:video(?:-|$)|error-)/, cancels: true },
    { kind: 'stt', format: 'stt/openai', transcription: { translates: true } },
    { kind: 'tts', format: 'tts/openai', speech: { defaultVoice: 'one' } },
    { kind: 'rerank', format: 'rerank/cohere' },
    { kind: 'decisions', format: 'decisions/native' },
    { kind: 'image', format: 'image/openai' },
  ],
  countTokensPath: '/messages/count_tokens',
  cancellable: true,
  dialect: () => DIALECT,
  authorize,
};

/** It needs no key, but one that is set is sent: its prompt cache is kept by key, like a vendor's. */
function authorize({ format, settings: { apiKey } }: CallContext): Readonly<Record<string, string>> {
  if (format === 'messages')
    return { 'anthropic-version': '2023-06-01', ...(apiKey !== undefined && { 'x-api-key': apiKey }) };
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
