import type { FormatId } from '../../canonical/extra.ts';
import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure-meaning.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Dialect } from '../../wire/format.ts';
import type { CallContext, FailedAnswer, FormatOffer, ProviderAdapter } from '../contract.ts';

/** What sets one host of the chat format apart from the next. */
export interface OpenAiCompatibleFacts {
  readonly id: string;
  readonly name: string;
  readonly baseUrl?: string;
  readonly apiKeyVariable?: string;
  readonly dialect?: Dialect;
  /** Families of models that differ from the host's others: the first that matches adds to the dialect. */
  readonly families?: readonly ModelFamily[];
  /** Members that every request carries, where the caller does not set them. */
  readonly body?: JsonObject;
  /** What it speaks of chat and responses, most native first. Default: chat. */
  readonly formats?: readonly FormatId[];
  /** Models that answer in one of those formats only. */
  readonly onlyIn?: readonly { readonly match: RegExp; readonly format: FormatId }[];
  /** The messages format beside them, with the path that stands before `/messages` there. */
  readonly messages?: {
    readonly basePath: string;
    readonly like: Pick<ProviderAdapter, 'dialect' | 'authorize' | 'classify'>;
  };
  readonly checkPath?: string | false;
  readonly cancellable?: boolean;
}

export interface ModelFamily {
  readonly match: RegExp;
  readonly dialect: Dialect;
}

const PLAIN: Dialect = {};

// Words for "this account has no money left" that hosts send with the status of a rate limit or of a bad request.
// OpenAI `insufficient_quota`, Moonshot `exceeded_current_quota_error`, Alibaba `Arrearage`: their error references,
// read 2026-11.
const QUOTA_WORDS: ReadonlySet<string> = new Set(['insufficient_quota', 'exceeded_current_quota_error', 'Arrearage']);

/** Any host that speaks the chat format with a bearer key. The dialect is the plainest one unless facts say more. */
export function createOpenAiCompatibleAdapter(facts: OpenAiCompatibleFacts): ProviderAdapter {
  const { id, name, baseUrl, apiKeyVariable, cancellable, checkPath, body: members, messages } = facts;
  const dialectOf = dialectsOf(facts);
  return {
    id,
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKeyVariable !== undefined && { apiKeyVariable }),
    ...(cancellable !== undefined && { cancellable }),
    ...(checkPath !== undefined && { checkPath }),
    ...offersOf(facts),
    dialect: (context) =>
      context.format === 'messages' && messages !== undefined
        ? messages.like.dialect(context)
        : dialectOf(context.model),
    authorize: (call) =>
      call.format === 'messages' && messages !== undefined ? messages.like.authorize(call) : authorize(call),
    ...(members !== undefined && {
      adjust: (body: JsonObject, { format }: CallContext) => (format === 'messages' ? body : { ...members, ...body }),
    }),
    classify: (answer) => classify(answer) ?? messages?.like.classify?.(answer),
  };
}

function offersOf({
  formats = ['chat'],
  onlyIn = [],
  messages,
}: OpenAiCompatibleFacts): Pick<ProviderAdapter, 'formats' | 'formatsOf'> {
  const beside: readonly FormatOffer[] =
    messages === undefined ? [] : [{ format: 'messages', basePath: messages.basePath }];
  const offers = [...formats.map((format) => ({ format })), ...beside];
  if (onlyIn.length === 0) return { formats: offers };
  const all = offers.map(({ format }) => format);
  const formatsOf = (model: string): readonly FormatId[] => {
    const only = onlyIn.find(({ match }) => match.test(model))?.format;
    return only === undefined ? all : [only];
  };
  return { formats: offers, formatsOf };
}

/** One object a family, so that nothing is put together for each call. */
function dialectsOf({ dialect = PLAIN, families = [] }: OpenAiCompatibleFacts): (model: string) => Dialect {
  const whole = families.map((family) => ({ match: family.match, dialect: { ...dialect, ...family.dialect } }));
  return (model) => whole.find(({ match }) => match.test(model))?.dialect ?? dialect;
}

/** The generic member: everything else comes from the operator's configuration. */
export const openAiCompatibleAdapter: ProviderAdapter = createOpenAiCompatibleAdapter({
  id: 'openai-compatible',
  name: 'OpenAI-compatible',
});

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
}

function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  if (QUOTA_WORDS.has(error.code ?? '') || QUOTA_WORDS.has(error.type ?? ''))
    return failureOfMeaning(MEANINGS.outOfQuota);
  // docs.together.ai "Error codes", read 2026-11: 403 when input and max_tokens exceed the context length.
  if (status === 403 && /context length|input token count/i.test(error.message ?? ''))
    return failureOfMeaning(MEANINGS.tooLong);
  return undefined;
}
