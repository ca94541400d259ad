import type { UpstreamFailure } from '../../canonical/failure.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Dialect } from '../../wire/format.ts';
import type { CallContext, FailedAnswer, ProviderAdapter } from '../contract.ts';

/** What sets one host of the chat format apart from the next. */
export interface OpenAiCompatibleFacts {
  readonly id: string;
  readonly name: string;
  readonly baseUrl?: string;
  readonly apiKeyVariable?: string;
  readonly dialect?: Dialect;
  /** Members that every request carries, where the caller does not set them. */
  readonly body?: JsonObject;
  readonly cancellable?: boolean;
}

const PLAIN: Dialect = {};

// Words for "this account has no money left" that hosts send with the status of a rate limit or of a bad request.
// OpenAI `insufficient_quota`, Moonshot `exceeded_current_quota_error`, Alibaba `Arrearage`: their error references,
// read 2026-11.
const QUOTA_WORDS: ReadonlySet<string> = new Set(['insufficient_quota', 'exceeded_current_quota_error', 'Arrearage']);

const OUT_OF_QUOTA: Partial<UpstreamFailure> = {
  errorType: 'provider_unavailable',
  status: 502,
  mayTry: 'next-endpoint',
  message: "The gateway's quota at the provider is used up.",
};
const TOO_LONG: Partial<UpstreamFailure> = {
  errorType: 'context_length_exceeded',
  status: 400,
  mayTry: 'next-endpoint',
  message: "The request is longer than the model's context.",
};

/** Any host that speaks the chat format with a bearer key. The dialect is the plainest one unless facts say more. */
export function createOpenAiCompatibleAdapter(facts: OpenAiCompatibleFacts): ProviderAdapter {
  const dialect = facts.dialect ?? PLAIN;
  const members = facts.body;
  return {
    id: facts.id,
    name: facts.name,
    ...(facts.baseUrl !== undefined && { baseUrl: facts.baseUrl }),
    ...(facts.apiKeyVariable !== undefined && { apiKeyVariable: facts.apiKeyVariable }),
    ...(facts.cancellable !== undefined && { cancellable: facts.cancellable }),
    formats: [{ format: 'chat' }],
    dialect: () => dialect,
    authorize,
    ...(members !== undefined && { adjust: (body: JsonObject) => ({ ...members, ...body }) }),
    classify,
  };
}

/** The generic member: everything else comes from the operator's configuration. */
export const openAiCompatibleAdapter: ProviderAdapter = createOpenAiCompatibleAdapter({
  id: 'openai-compatible',
  name: 'OpenAI-compatible',
});

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
}

function classify({ status, error }: FailedAnswer): Partial<UpstreamFailure> | undefined {
  if (QUOTA_WORDS.has(error.code ?? '') || QUOTA_WORDS.has(error.type ?? '')) return OUT_OF_QUOTA;
  // docs.together.ai "Error codes", read 2026-11: 403 when input and max_tokens exceed the context length.
  if (status === 403 && /context length|input token count/i.test(error.message ?? '')) return TOO_LONG;
  return undefined;
}
