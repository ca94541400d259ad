import type { FormatId } from '../../canonical/extra.ts';
import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure/failure-meaning.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { TranscriptionFacts } from '../../canonical/transcription.ts';
import type { Dialect } from '../../wire/format.ts';
import type { CallContext, FailedAnswer, FormatOffer, KindOffer, ProviderAdapter } from '../contract.ts';

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
  /** What is particular to its responses format: a path in place of the base URL's, facts beside the dialect. */
  readonly responses?: { readonly basePath?: string; readonly dialect?: Dialect };
  /** Models that answer in one of those formats only. */
  readonly onlyIn?: readonly { readonly match: RegExp; readonly format: FormatId }[];
  /** The messages format beside them, with the path that stands before `/messages` there. */
  readonly messages?: {
    readonly basePath: string;
    readonly like: Pick<ProviderAdapter, 'dialect' | 'authorize' | 'classify'>;
  };
  /** How it differs in embeddings. */
  readonly embeddings?: Pick<KindOffer, 'dialect' | 'facts' | 'basePath'>;
  /** Its models that read more than texts, in a form of its own. */
  readonly ownEmbeddings?: Pick<KindOffer, 'format' | 'models' | 'dialect' | 'facts'>;
  /** How it differs in the order of documents. */
  readonly rerank?: Partial<Pick<KindOffer, 'format' | 'basePath' | 'path' | 'rerank'>>;
  /** What is known of its models that hear, and how it speaks. */
  readonly transcription?: TranscriptionFacts;
  readonly speech?: Partial<Pick<KindOffer, 'format' | 'speech'>>;
  /** How it makes pictures. */
  readonly image?: Pick<KindOffer, 'image' | 'imageDialect'>;
  /** Its models that make them in a form of its own. */
  readonly ownImages?: Pick<KindOffer, 'format' | 'models' | 'image'>;
  /** How it makes clips. Absent: it does not, as far as is known. */
  readonly video?: Pick<KindOffer, 'format' | 'models' | 'video'>;
  readonly checkPath?: string | false;
  readonly cancellable?: boolean;
}

export interface ModelFamily {
  readonly match: RegExp;
  readonly dialect: Dialect;
  /** In which its responses format differs from that of the host's other models. */
  readonly responses?: Dialect;
  /** Members that requests to its models carry besides. */
  readonly body?: JsonObject;
}

const PLAIN: Dialect = {};

/** The vendor's own models refuse `response_format`, wherever they are: openai 7.55, `ImageGenerateParams` (2026-11). */
const ALWAYS_BASE64 = /(?:^|[/.])(?:chat)?gpt-image/;

/** Models that write, too, are called as in a conversation. */
function picturesOf({ image = {} }: OpenAiCompatibleFacts): readonly KindOffer[] {
  const { imageDialect, image: known } = image;
  const facts = known === undefined ? {} : { image: known };
  return [
    { kind: 'image', format: 'image/openai', models: ALWAYS_BASE64, ...facts, imageDialect: { ...imageDialect } },
    { kind: 'image', format: 'image/openai', ...facts, imageDialect: { base64Word: 'b64_json', ...imageDialect } },
    { kind: 'image', format: 'image/chat', ...facts },
  ];
}

/** Of what hosts of the form serve only the whisper family is known to translate. openai 7.55, `Translations` (2026-11). */
const WHISPER_FIRST = [
  { kind: 'stt', format: 'stt/openai', models: /whisper/i, transcription: { translates: true } },
  { kind: 'stt', format: 'stt/openai', transcription: {} },
] as const satisfies readonly KindOffer[];

// Words for "this account has no money left" that hosts send with the status of a rate limit or of a bad request.
// Moonshot `exceeded_current_quota_error`, Alibaba `Arrearage`: their error references,
// read 2026-11.
const QUOTA_WORDS: ReadonlySet<string> = new Set([
  'exceeded_current_quota_error',
  'insufficient_balance_error',
  'Arrearage',
  'AllocationQuota.FreeTierOnly',
]);
// Hosts without such a word: Z.AI 1113 "Insufficient balance", xAI "used all available credits or reached its monthly
// spending limit" and "doesn't have any credits yet", as users quote them, read 2026-11.
const NO_MONEY = /insufficient balance|(?:all available|any) credits|spending limit/i;
// console.groq.com "Error codes", read 2026-11: the model wrote an unreadable call or JSON, which a retry may fix. The
// request is not at fault.
const MODEL_FAILED: ReadonlySet<string> = new Set(['tool_use_failed', 'json_validate_failed']);

/** Any host that speaks the chat format with a bearer key. The dialect is the plainest one unless facts say more. */
export function createOpenAiCompatibleAdapter(facts: OpenAiCompatibleFacts): ProviderAdapter {
  const { id, name, baseUrl, apiKeyVariable, cancellable, checkPath, messages } = facts;
  const dialectOf = dialectsOf(facts);
  return {
    id,
    name,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKeyVariable !== undefined && { apiKeyVariable }),
    ...(cancellable !== undefined && { cancellable }),
    ...(checkPath !== undefined && { checkPath }),
    ...offersOf(facts),
    offers: [
      ...(facts.ownEmbeddings === undefined ? [] : [{ kind: 'embeddings' as const, ...facts.ownEmbeddings }]),
      { kind: 'embeddings', format: 'embeddings/openai', ...facts.embeddings },
      { kind: 'rerank', format: 'rerank/cohere', ...facts.rerank },
      { kind: 'decisions', format: 'decisions/native' },
      ...WHISPER_FIRST.map((offer) => ({
        ...offer,
        transcription: { ...offer.transcription, ...facts.transcription },
      })),
      { kind: 'tts', format: 'tts/openai', ...facts.speech },
      ...(facts.ownImages === undefined ? [] : [{ kind: 'image' as const, ...facts.ownImages }]),
      ...picturesOf(facts),
      ...(facts.video === undefined ? [] : [{ kind: 'video' as const, ...facts.video }]),
    ],
    dialect: (context) =>
      context.format === 'messages' && messages !== undefined
        ? { ...dialectOf(context.format, context.model), ...messages.like.dialect(context) }
        : dialectOf(context.format, context.model),
    authorize: (call) =>
      call.format === 'messages' && messages !== undefined ? messages.like.authorize(call) : authorize(call),
    ...adjustWith(facts),
    classify: (answer) => classify(answer) ?? messages?.like.classify?.(answer),
  };
}

function offersOf({
  formats = ['chat'],
  onlyIn = [],
  responses,
  messages,
}: OpenAiCompatibleFacts): Pick<ProviderAdapter, 'formats' | 'formatsOf'> {
  const beside: readonly FormatOffer[] =
    messages === undefined ? [] : [{ format: 'messages', basePath: messages.basePath }];
  const ownPath = responses?.basePath;
  const offers: readonly FormatOffer[] = [
    ...formats.map((format) => ({
      format,
      ...(format === 'responses' && ownPath !== undefined && { basePath: ownPath }),
    })),
    ...beside,
  ];
  if (onlyIn.length === 0) return { formats: offers };
  const all = offers.map(({ format }) => format);
  const formatsOf = (model: string): readonly FormatId[] => {
    const only = onlyIn.find(({ match }) => match.test(model))?.format;
    return only === undefined ? all : [only];
  };
  return { formats: offers, formatsOf };
}

/** Adds the members that the caller does not set. */
function adjustWith({ body: members, families = [] }: OpenAiCompatibleFacts): Pick<ProviderAdapter, 'adjust'> {
  if (members === undefined && families.every(({ body }) => body === undefined)) return {};
  const adjust = (body: JsonObject, { format, model }: CallContext): JsonObject => {
    if (format === 'messages') return body;
    return { ...members, ...families.find(({ match }) => match.test(model))?.body, ...body };
  };
  return { adjust };
}

/** One object a family and format, so that nothing is put together for each call. */
function dialectsOf({
  dialect = PLAIN,
  families = [],
  responses,
}: OpenAiCompatibleFacts): (format: FormatId, model: string) => Dialect {
  const inChat = withFamilies(dialect, families);
  const more = responses?.dialect;
  if (more === undefined) return (_format, model) => inChat(model);
  const inResponses = withFamilies(
    { ...dialect, ...more },
    families.map((family) => ({ ...family, dialect: { ...family.dialect, ...more, ...family.responses } })),
  );
  return (format, model) => (format === 'responses' ? inResponses : inChat)(model);
}

function withFamilies(dialect: Dialect, families: readonly ModelFamily[]): (model: string) => Dialect {
  const whole = families.map((family) => ({ match: family.match, dialect: { ...dialect, ...family.dialect } }));
  return (model) => whole.find(({ match }) => match.test(model))?.dialect ?? dialect;
}

/** The generic member: everything else comes from the operator's configuration. */
export const openAiCompatibleAdapter: ProviderAdapter = createOpenAiCompatibleAdapter({
  id: 'openai-compatible',
  name: 'OpenAI-compatible',
  // Google's own address in this format, and gateways that copy it, count thoughts in no part of the total: a recording of
  // 2025-06 (generativelanguage.googleapis.com/v1beta/openai), mozilla-ai/any-llm#1290 (2026-08).
  families: [{ match: /^(?:[a-z]+\/)?gemini-/, dialect: { reasoningInTotal: true } }],
});

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
}

function classify({ status, error }: FailedAnswer): MeaningOfFailure | undefined {
  const { code = '', type = '', message = '' } = error;
  const mayBeQuota = status === 400 || status === 403 || status === 429;
  if (QUOTA_WORDS.has(code) || QUOTA_WORDS.has(type) || (mayBeQuota && NO_MONEY.test(message)))
    return failureOfMeaning(MEANINGS.outOfQuota);
  if (status === 400 && MODEL_FAILED.has(code)) return failureOfMeaning(MEANINGS.unavailable);
  // platform.kimi.ai "Error codes", read 2026-11: under the status of a rate limit.
  if (type === 'engine_overloaded_error') return failureOfMeaning(MEANINGS.overloaded);
  // docs.together.ai "Error codes", read 2026-11: 403 when input and max_tokens exceed the context length.
  if (status === 403 && /context length|input token count/i.test(message)) return failureOfMeaning(MEANINGS.tooLong);
  return undefined;
}
