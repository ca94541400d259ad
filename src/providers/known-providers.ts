import { PARAMETERS } from '../wire/chat/parameters.ts';
import type { Dialect } from '../wire/format.ts';
import type { KnownProvider } from './known-provider.ts';
import { DEEPINFRA_KINDS, FIREWORKS_FLUX, FLOATS_ONLY, NVIDIA_INPUT_TYPES, PICTURES } from './kind-dialects.ts';

/** What a closed list of parameters leaves to a host: words that only engines of open models have. */
const WITHOUT_ENGINE_WORDS: ReadonlySet<string> = PARAMETERS.difference(
  new Set(['top_k', 'top_a', 'min_p', 'repetition_penalty', 'verbosity', 'web_search_options', 'grammar', 'python']),
);
const LOGPROBS: ReadonlySet<string> = new Set(['logit_bias', 'logprobs', 'top_logprobs']);
// "`reasoning_content` is missing in assistant tool call message" and "must be passed back to the API" say Kimi and DeepSeek
// of turns that other models took, and here and there of an empty one: theopenco/llmgateway#2093 (2026-04),
// NousResearch/hermes-agent#16021 (2026-04), QwenLM/qwen-code#3788 and farion1231/cc-switch#3222 (messages, 2026-05).
// "Thinking mode does not support this tool_choice": deepseek-ai/DeepSeek-V3#1376 (2026-05), simstudioai/sim#5716 (2026-07).
const SEES_REASONING = { reasoningFiller: ' ', unforcedReasoning: true } as const satisfies Dialect;
const FIXED_SAMPLING: ReadonlySet<string> = new Set(['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']);
const KIMI = { ...SEES_REASONING, refused: FIXED_SAMPLING } as const satisfies Dialect;
const WITHOUT_SEARCH = { webSearchTool: false, postSearchTool: false } as const satisfies Dialect;
const REFUSED_BY_GROK: ReadonlySet<string> = new Set(['presence_penalty', 'frequency_penalty', 'stop']);
// "Unexpected role 'user' after role 'tool'" and "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9" say
// the vendor and its tokenizer wherever that runs: BerriAI/litellm#17761 (2025-12), avante.nvim#2951 (2026-02),
// NousResearch/hermes-agent#20154 (NVIDIA, 2026-05), openclaw/openclaw#33177 (vLLM, 2026-03).
const MISTRAL_ORDER = { repliesToResults: true, callIds: 'nine' } as const satisfies Dialect;
const MISTRAL_MODELS = /mistral|mixtral|devstral|magistral|codestral|pixtral|voxtral/i;

// Base URLs and variables were read in each vendor's own documentation in 2026-11, where no other source is named. What
// families know of reasoning was read in the data of @earendil-works/pi-ai 1.5.2 (2026-11-10) besides. The addresses of
// the messages format are those that the vendors give for Claude Code; they are Anthropic's base URL and lack `/v1`.
export const KNOWN_PROVIDERS = [
  {
    // console.groq.com "API Reference": `max_tokens` is deprecated, `name` of messages is refused. "OpenAI Compatibility":
    // log probabilities are; vendor's SDK, groq-typescript (2026-07), `ChatCompletionCreateParamsBase`, for the others.
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKeyVariables: ['GROQ_API_KEY'],
    // console.groq.com "Speech to Text", read 2026-11: each sound is billed as 10 s at least; no subtitles.
    transcription: { formats: ['json', 'verbose_json', 'text'], minSeconds: 10, streaming: false },
    dialect: {
      maxCompletionTokens: true,
      plainMessages: true,
      // @ai-sdk/groq 3, `convertToGroqChatMessages`.
      reasoningMember: 'reasoning',
      parameters: WITHOUT_ENGINE_WORDS.difference(LOGPROBS),
      refused: new Set(['prediction', 'prompt_cache_key', 'prompt_cache_options']),
    },
    families: [
      { match: /gpt-oss/, dialect: { reasoningEfforts: ['low', 'medium', 'high'], mustReason: true } },
      // "Reasoning": of older ones `none` or `default`, which is what goes without saying. Without a `reasoning_format` it
      // stands in the text, as `<think>`. "Structured Outputs": not of these, nor of the older ones below.
      {
        match: /qwen3?\.?[0-7]?(?:-|$)/,
        dialect: { reasoningEfforts: ['none'], jsonSchema: false },
        body: { reasoning_format: 'parsed' },
      },
      {
        match: /qwen/,
        dialect: { reasoningEfforts: ['none', 'low', 'medium', 'high'] },
        body: { reasoning_format: 'parsed' },
      },
      // console.groq.com "Assistant Message Prefilling", read 2026-11: the model continues a last message of the
      // assistant.
      { match: /llama-4|kimi-k2-instruct/, dialect: { reasoningSettings: 'none', continuesResponses: true } },
      {
        match: /llama|gemma|allam/,
        dialect: { reasoningSettings: 'none', jsonSchema: false, continuesResponses: true },
      },
    ],
  },
  {
    // `stream_options` is refused with 422 (openai/openai-agents-python#442, 2025-04); usage comes by itself. Reasoning is
    // to come back as the part that it came in, else answers get worse: vendor's SDK 2.2.5, "reasoning_multi_turn". A
    // document is a `document_url`, an address or its bytes: vendor's OpenAPI document, `DocumentURLChunk`. Members that
    // its `ChatCompletionRequest` lacks are refused, "Extra inputs are not permitted"; so is a last message of the
    // assistant without `prefix`.
    id: 'mistral',
    // @mistralai/mistralai 2.7, `EmbeddingRequest` (2026-11). Base64 is not known to work there.
    embeddings: { dialect: { dimensionsMember: 'output_dimension', encodings: ['float'], withoutUser: true } },
    speech: { format: 'tts/mistral', speech: { formats: ['mp3', 'wav', 'opus', 'flac'], sampleRate: 24_000 } },
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyVariables: ['MISTRAL_API_KEY'],
    dialect: {
      streamUsage: false,
      reasoningMember: 'content',
      documentPart: 'document_url',
      documentUrls: true,
      plainMessages: true,
      ...MISTRAL_ORDER,
      prefixMember: true,
      seedMember: 'random_seed',
      parameters: WITHOUT_ENGINE_WORDS.difference(LOGPROBS),
      // It takes `prompt_cache_key`: a recording of its answer to one counts 224 cached tokens.
      refused: new Set(['service_tier', 'prompt_cache_options']),
    },
    // docs.mistral.ai "Reasoning": `high` or `none`, on the models that leave it open; others refuse the member.
    families: [
      { match: /^mistral-large-4/, dialect: { reasoningEfforts: ['low', 'medium', 'high'], mustReason: true } },
      {
        match: /^(?:mistral-(?:medium-(?:3\.5|26|latest)|small-(?:4|26|latest))|magistral-|labs-leanstral)/,
        dialect: { reasoningEfforts: ['none', 'high'] },
      },
      {
        match: /^(?:open-|codestral|devstral|ministral|pixtral|voxtral|mistral-)/,
        dialect: { reasoningSettings: 'none' },
      },
    ],
  },
  {
    // api-docs.deepseek.com "Thinking Mode": `reasoning_content` of turns with tool calls must come back, else 400. Texts
    // as parts are refused, "invalid type: sequence, expected a string" (QwenLM/qwen-code#2320, 2026-03).
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    apiKeyVariables: ['DEEPSEEK_API_KEY'],
    // "Thinking Mode": the switch and the effort stand side by side; the vendor maps every effort to those that it has.
    // "JSON Output": no schemas, "This response_format type is unavailable now" (UKGovernmentBEIS/inspect_ai#4916, 2026-08).
    // "thinking options type cannot be disabled when reasoning_effort is set": anthropics/claude-code#65863 (2026-06).
    dialect: {
      reasoningMember: 'reasoning_content',
      ...SEES_REASONING,
      effortNeedsThinking: true,
      plainMessages: true,
      jsonSchema: false,
      textParts: false,
      reasoningSettings: 'thinking',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    },
    formats: ['chat', 'responses'],
    // api-docs.deepseek.com "Using the Responses API" and "Thinking Mode": below the bare host, readable reasoning, an
    // effort that may be `none`.
    responses: {
      basePath: '',
      dialect: {
        reasoningFamily: 'unknown',
        reasoningText: true,
        reasoningEfforts: ['none', 'low', 'high', 'max'],
        callsLast: true,
        toolOutputParts: true,
        documentInputs: 'none',
      },
    },
    messagesPath: '/anthropic/v1',
    cancellable: true,
  },
  {
    id: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    apiKeyVariables: ['XAI_API_KEY'],
    formats: ['chat', 'responses'],
    video: { format: 'video/xai', models: /^grok-imagine-video/ },
    image: PICTURES.xai,
    // docs.x.ai "Generate Text": answers are kept unless `store` says no. "Chat with Files": documents as links and by id.
    // "Priority Processing": the tiers.
    responses: {
      dialect: {
        encryptedReasoning: true,
        storesResponses: true,
        toolOutputParts: true,
        documentInputs: 'links',
        runsCustomTools: true,
        serviceTiers: ['default', 'priority'],
        // docs.x.ai "Web Search" and "X Search", read 2026-11: tools of models since Grok 4, five sites in one list.
        webSearchTool: true,
        excludedSitesMax: 5,
        postSearchTool: true,
      },
    },
    // docs.x.ai "Multi-agent": not to be had in the chat format.
    onlyIn: [{ match: /multi-agent/, format: 'responses' }],
    dialect: { maxCompletionTokens: true, plainMessages: true, reasoningFamily: 'xai-responses-v1' },
    // docs.x.ai "Reasoning": penalties and stop sequences are answered with an error by all models that reason.
    families: [
      {
        match: /grok-3-mini/,
        dialect: { reasoningEfforts: ['low', 'high'], mustReason: true, refused: REFUSED_BY_GROK },
        responses: WITHOUT_SEARCH,
      },
      {
        match: /grok-4\.3/,
        dialect: { reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'], refused: REFUSED_BY_GROK },
      },
      // The models before refuse `reasoning_effort` as well, whatever it says.
      { match: /grok-[23]/, dialect: { reasoningSettings: 'none' }, responses: WITHOUT_SEARCH },
      { match: /non-reasoning|beta/, dialect: { reasoningSettings: 'none' } },
      {
        match: /grok-(?:4(?![.\d])|4[.-](?:0|1|20)|code)/,
        dialect: { reasoningSettings: 'none', refused: REFUSED_BY_GROK },
      },
      {
        match: /grok/,
        dialect: {
          reasoningEfforts: ['low', 'medium', 'high', 'xhigh'],
          mustReason: true,
          refused: REFUSED_BY_GROK,
        },
      },
    ],
    cancellable: true,
  },
  {
    id: 'together',
    image: PICTURES.together,
    name: 'Together',
    baseUrl: 'https://api.together.ai/v1',
    apiKeyVariables: ['TOGETHER_API_KEY'],
    // docs.together.ai "Reasoning": hybrid models have a switch, gpt-oss has efforts.
    dialect: { reasoningSettings: 'reasoning.enabled', plainMessages: true },
    families: [
      {
        match: /gpt-oss/,
        dialect: {
          reasoningSettings: 'reasoning_effort',
          reasoningEfforts: ['low', 'medium', 'high'],
          mustReason: true,
        },
      },
    ],
    cancellable: true,
  },
  {
    // docs.fireworks.ai "Thinking history": models read `reasoning_content` of earlier turns.
    id: 'fireworks',
    name: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    apiKeyVariables: ['FIREWORKS_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content', plainMessages: true },
    messagesPath: '/inference/v1',
    ownImages: FIREWORKS_FLUX,
    cancellable: true,
  },
  {
    // openrouter.ai/docs "Reasoning Tokens", "Prompt Caching", "PDF Inputs".
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    embeddings: { dialect: { content: 'parts' } },
    apiKeyVariables: ['OPENROUTER_API_KEY'],
    dialect: {
      reasoningMember: 'reasoning_details',
      reasoningSettings: 'reasoning',
      cacheBreakpoints: 'cache_control',
      endUserMember: 'user',
      documentUrls: true,
    },
    formats: ['chat', 'responses'],
    responses: { dialect: { reasoningText: true } },
    messagesPath: '/api/v1',
    checkPath: '/key',
  },
  {
    // Vendor's SDK, cerebras-cloud-sdk-node (2026-07), `ChatCompletionCreateParamsBase`: parameters and efforts; earlier
    // reasoning as `reasoning`, vercel/ai, `transformCerebrasRequestBody` (2026-08).
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    apiKeyVariables: ['CEREBRAS_API_KEY'],
    dialect: {
      maxCompletionTokens: true,
      plainMessages: true,
      reasoningMember: 'reasoning',
      reasoningEfforts: ['none', 'low', 'medium', 'high'],
      parameters: WITHOUT_ENGINE_WORDS,
    },
    families: [{ match: /gpt-oss/, dialect: { reasoningEfforts: ['low', 'medium', 'high'], mustReason: true } }],
  },
  {
    id: 'deepinfra',
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    apiKeyVariables: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    dialect: { plainMessages: true },
    ...DEEPINFRA_KINDS,
    checkPath: false,
    cancellable: true,
  },
  {
    // platform.kimi.ai: a turn with tool calls without its `reasoning_content` is refused while thinking is on.
    id: 'moonshotai',
    name: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    apiKeyVariables: ['MOONSHOT_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content', reasoningSettings: 'none', plainMessages: true },
    // Since K2.5 "invalid temperature: only 1 is allowed for this model", and `top_p` and the penalties are fixed, too:
    // HKUDS/nanobot#4967 (2026-07), dev.to/aihubmix on the K3.1 Pro (2026-10).
    families: [
      {
        match: /kimi-k[3-9]/,
        dialect: {
          reasoningSettings: 'reasoning_effort',
          reasoningEfforts: ['low', 'high', 'max'],
          mustReason: true,
          ...KIMI,
        },
      },
      {
        match: /kimi-k2\.7/,
        dialect: { reasoningSettings: 'thinking', mustReason: true, ...KIMI },
      },
      { match: /kimi-k2-thinking/, dialect: { mustReason: true, ...SEES_REASONING } },
      { match: /kimi-k2\.[56]/, dialect: { reasoningSettings: 'thinking', ...KIMI } },
    ],
    messagesPath: '/anthropic/v1',
  },
  {
    // docs.z.ai "Thinking Mode": reasoning between tool calls must come back unmodified.
    id: 'z-ai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    apiKeyVariables: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
    // docs.z.ai "Structured Output": `text` and `json_object`.
    dialect: {
      reasoningMember: 'reasoning_content',
      reasoningSettings: 'thinking',
      plainMessages: true,
      jsonSchema: false,
    },
    families: [
      { match: /glm-5\.2/, dialect: { reasoningEfforts: ['high', 'max'] } },
      { match: /glm-(?:5\.[3-9]|[6-9])/, dialect: { reasoningEfforts: ['low', 'high', 'max'], mustReason: true } },
    ],
    messagesPath: '/api/anthropic/v1',
  },
  {
    // platform.minimaxi.com "OpenAI API": without `reasoning_split` the reasoning stands in the text as `<think>`;
    // `max_tokens` is deprecated. The switch is `adaptive` or `disabled`, and up to M2 nothing turns reasoning off; there are
    // no efforts and no schemas: java.agentscope.io "MiniMax" and NousResearch/hermes-agent#46648 (2026-06).
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    apiKeyVariables: ['MINIMAX_API_KEY'],
    dialect: {
      reasoningMember: 'reasoning_details',
      reasoningSettings: 'thinking.adaptive',
      maxCompletionTokens: true,
      plainMessages: true,
      jsonSchema: false,
    },
    families: [{ match: /m[12](?![\d])/i, dialect: { mustReason: true } }],
    body: { reasoning_split: true },
    messagesPath: '/anthropic/v1',
  },
  {
    // alibabacloud.com "Base URL overview": the shared domain of the Singapore region; keys belong to one region.
    id: 'alibaba',
    name: 'Alibaba Cloud',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    apiKeyVariables: ['DASHSCOPE_API_KEY'],
    // alibabacloud.com "Deep thinking": fields of the body, for models of every author. "tool_choice ... does not
    // support being set to required or object in thinking mode": cloudwego/eino#994 (2026-04).
    dialect: {
      reasoningSettings: 'enable_thinking',
      reasoningBudget: 'thinking_budget',
      unforcedReasoning: true,
      plainMessages: true,
    },
    families: [{ match: /thinking|qwq|qvq|deepseek-r1/, dialect: { mustReason: true } }],
    // "parameter.enable_thinking must be set to false for non-streaming calls" for the open models, which think by
    // default (langchain4j/langchain4j#3974, 2025-10): so a response without streaming is folded from a stream, too.
    body: { stream: true, stream_options: { include_usage: true } },
    messagesPath: '/apps/anthropic/v1',
  },
  {
    id: 'nvidia',
    embeddings: { dialect: { inputTypeMember: 'input_type', inputTypes: NVIDIA_INPUT_TYPES } },
    name: 'NVIDIA',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    apiKeyVariables: ['NVIDIA_API_KEY'],
    dialect: { plainMessages: true },
    families: [{ match: MISTRAL_MODELS, dialect: MISTRAL_ORDER }],
    checkPath: false,
  },
  {
    // docs.perplexity.ai "OpenAI Compatibility" of the Agent API: `/v1/responses` is an alias of `/v1/agent`. The chat
    // format ended on 2026-09-27 (vercel/ai, @ai-sdk/perplexity 2.1.0).
    id: 'perplexity',
    name: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai/v1',
    apiKeyVariables: ['PERPLEXITY_API_KEY'],
    formats: ['responses'],
    dialect: { documentInputs: 'none', reasoningEfforts: ['low', 'medium', 'high'] },
    checkPath: false,
  },
  {
    id: 'ollama',
    embeddings: FLOATS_ONLY,
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiKeyVariables: [],
    host: { variable: 'OLLAMA_HOST', defaultPort: 11_434 },
    // "invalid reasoning value: 'minimal'": DevEmperor/DictateKeyboard#186 (2026-07).
    // ollama/ollama, openai/openai.go, `FromChatRequest`: `reasoning` of a message is its thinking, and no other member is read.
    dialect: { reasoningEfforts: ['none', 'low', 'medium', 'high', 'max'], reasoningMember: 'reasoning' },
    cancellable: true,
  },
  {
    // docs.vllm.ai "Reasoning Outputs": whether a model thinks is for its template to say.
    id: 'vllm',
    name: 'vLLM',
    // vllm/entrypoints/openai/protocol.py, `ModelCard`.
    modelsOwner: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    apiKeyVariables: [],
    // The same page: `reasoning` was `reasoning_content` before 0.11.
    dialect: {
      reasoningSettings: 'chat_template_kwargs',
      reasoningEfforts: ['low', 'medium', 'high'],
      reasoningMember: 'reasoning',
      reasoningMemberVaries: true,
    },
    families: [{ match: MISTRAL_MODELS, dialect: MISTRAL_ORDER }],
    cancellable: true,
  },
  {
    id: 'lm-studio',
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    apiKeyVariables: [],
    embeddings: FLOATS_ONLY,
    cancellable: true,
  },
  {
    // tools/server/README.md of llama.cpp: `chat_template_kwargs` as in vLLM.
    id: 'llama.cpp',
    name: 'llama.cpp',
    // tools/server/README.md, `GET /v1/models`.
    modelsOwner: 'llamacpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    apiKeyVariables: [],
    // The server continues a last message of the assistant unless it is configured otherwise: ggml-org/llama.cpp#13174
    // and #13608 (2025-05).
    dialect: {
      reasoningSettings: 'chat_template_kwargs',
      reasoningEfforts: ['low', 'medium', 'high'],
      // common/chat.cpp, `common_chat_msgs_parse_oaicompat`.
      reasoningMember: 'reasoning_content',
      continuesResponses: true,
    },
    cancellable: true,
  },
] as const satisfies readonly KnownProvider[];
