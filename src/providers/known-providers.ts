import type { FormatId } from '../canonical/extra.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Dialect } from '../wire/format.ts';

/** A host of the chat or the responses format that needs no code of its own. */
export interface KnownProvider {
  readonly id: string;
  /** Display name. */
  readonly name: string;
  readonly baseUrl: string;
  /** The first that is set turns the provider on and holds its key; none: on by configuration only. */
  readonly apiKeyVariables: readonly string[];
  /** The variable that turns a local engine on and says where it listens. */
  readonly host?: { readonly variable: string; readonly defaultPort: number };
  /** Differences from the plainest spelling. */
  readonly dialect?: Dialect;
  /** Families of models that differ from the host's others: the first that matches adds to the dialect. */
  readonly families?: readonly { readonly match: RegExp; readonly dialect: Dialect }[];
  /** What it speaks of chat and responses, most native first. Default: chat. */
  readonly formats?: readonly FormatId[];
  /** Models that answer in one of those formats only. */
  readonly onlyIn?: readonly { readonly match: RegExp; readonly format: FormatId }[];
  /** What stands before `/messages` on its host, where it speaks that format too: `/anthropic/v1`. */
  readonly messagesPath?: string;
  /** Where a key can be tried for nothing, when not at `/models`; `false`: nowhere, that list is public. */
  readonly checkPath?: string | false;
  /** Members that every request to it carries, where the caller does not set them. */
  readonly body?: JsonObject;
  /** generation.md 6.8: whether hanging up stops the meter. */
  readonly cancellable?: boolean;
}

// Base URLs and variables were read in each vendor's own documentation in 2026-11, where no other source is named. What
// families know of reasoning was read in the data of @earendil-works/pi-ai 1.5.2 (2026-11-10) besides. The addresses of
// the messages format are those that the vendors give for Claude Code; they are Anthropic's base URL and lack `/v1`.
export const KNOWN_PROVIDERS = [
  {
    // console.groq.com "API Reference": `max_tokens` is deprecated, `name` of messages is refused.
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKeyVariables: ['GROQ_API_KEY'],
    dialect: { maxCompletionTokens: true },
    families: [
      { match: /gpt-oss/, dialect: { reasoningEfforts: ['low', 'medium', 'high'], mustReason: true } },
      // "Reasoning": of older ones `none` or `default`, which is what goes without saying.
      { match: /qwen3?\.?[0-7]?(?:-|$)/, dialect: { reasoningEfforts: ['none'] } },
      { match: /qwen/, dialect: { reasoningEfforts: ['none', 'low', 'medium', 'high'] } },
      { match: /llama|gemma|allam|kimi-k2-instruct/, dialect: { reasoningSettings: 'none' } },
    ],
  },
  {
    // `stream_options` is refused with 422 (openai/openai-agents-python#442, 2025-04); usage comes by itself. Reasoning is
    // to come back as the part that it came in, else answers get worse: vendor's SDK 2.2.5, "reasoning_multi_turn". A
    // document is a `document_url`, an address or its bytes: vendor's OpenAPI document, `DocumentURLChunk`.
    id: 'mistral',
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyVariables: ['MISTRAL_API_KEY'],
    dialect: {
      streamUsage: false,
      reasoningMember: 'content',
      documentPart: 'document_url',
      documentUrls: true,
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
    dialect: {
      reasoningMember: 'reasoning_content',
      textParts: false,
      reasoningSettings: 'thinking',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
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
    // docs.x.ai "Multi-agent": not to be had in the chat format.
    onlyIn: [{ match: /multi-agent/, format: 'responses' }],
    dialect: { maxCompletionTokens: true, reasoningFamily: 'xai-responses-v1' },
    families: [
      { match: /grok-3-mini/, dialect: { reasoningEfforts: ['low', 'high'], mustReason: true } },
      { match: /grok-4\.3/, dialect: { reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'] } },
      // docs.x.ai "Reasoning": the models before refuse `reasoning_effort`, whatever it says.
      { match: /grok-(?:[23]|4(?![.\d])|4[.-](?:0|1|20)|code|beta)/, dialect: { reasoningSettings: 'none' } },
      { match: /grok/, dialect: { reasoningEfforts: ['low', 'medium', 'high', 'xhigh'], mustReason: true } },
    ],
    cancellable: true,
  },
  {
    id: 'together',
    name: 'Together',
    baseUrl: 'https://api.together.ai/v1',
    apiKeyVariables: ['TOGETHER_API_KEY'],
    // docs.together.ai "Reasoning": hybrid models have a switch, gpt-oss has efforts.
    dialect: { reasoningSettings: 'reasoning.enabled' },
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
    dialect: { reasoningMember: 'reasoning_content' },
    messagesPath: '/inference/v1',
    cancellable: true,
  },
  {
    // openrouter.ai/docs "Reasoning Tokens", "Prompt Caching", "PDF Inputs".
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    apiKeyVariables: ['OPENROUTER_API_KEY'],
    dialect: {
      reasoningMember: 'reasoning_details',
      reasoningSettings: 'reasoning',
      cacheMarks: 'cache_control',
      endUserMember: 'user',
      documentUrls: true,
    },
    messagesPath: '/api/v1',
    checkPath: '/key',
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    apiKeyVariables: ['CEREBRAS_API_KEY'],
    dialect: { maxCompletionTokens: true },
    families: [{ match: /gpt-oss/, dialect: { reasoningEfforts: ['low', 'medium', 'high'], mustReason: true } }],
  },
  {
    id: 'deepinfra',
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    apiKeyVariables: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    checkPath: false,
    cancellable: true,
  },
  {
    // platform.kimi.ai: a turn with tool calls without its `reasoning_content` is refused while thinking is on.
    id: 'moonshotai',
    name: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    apiKeyVariables: ['MOONSHOT_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content', reasoningSettings: 'none' },
    families: [
      {
        match: /kimi-k[3-9]/,
        dialect: { reasoningSettings: 'reasoning_effort', reasoningEfforts: ['low', 'high', 'max'], mustReason: true },
      },
      { match: /kimi-k2\.7/, dialect: { reasoningSettings: 'thinking', mustReason: true } },
      { match: /kimi-k2\.[56]/, dialect: { reasoningSettings: 'thinking' } },
    ],
    messagesPath: '/anthropic/v1',
  },
  {
    // docs.z.ai "Thinking Mode": reasoning between tool calls must come back unmodified.
    id: 'z-ai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    apiKeyVariables: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content', reasoningSettings: 'thinking' },
    families: [
      { match: /glm-5\.2/, dialect: { reasoningEfforts: ['high', 'max'] } },
      { match: /glm-(?:5\.[3-9]|[6-9])/, dialect: { reasoningEfforts: ['low', 'high', 'max'], mustReason: true } },
    ],
    messagesPath: '/api/anthropic/v1',
  },
  {
    // platform.minimaxi.com "OpenAI API": without `reasoning_split` the reasoning stands in the text as `<think>`;
    // `max_tokens` is deprecated.
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    apiKeyVariables: ['MINIMAX_API_KEY'],
    dialect: { reasoningMember: 'reasoning_details', maxCompletionTokens: true },
    body: { reasoning_split: true },
    messagesPath: '/anthropic/v1',
  },
  {
    // alibabacloud.com "Base URL overview": the shared domain of the Singapore region; keys belong to one region.
    id: 'alibaba',
    name: 'Alibaba Cloud',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    apiKeyVariables: ['DASHSCOPE_API_KEY'],
    // alibabacloud.com "Deep thinking": members of the body, whoever made the model.
    dialect: { reasoningSettings: 'enable_thinking', reasoningBudget: 'thinking_budget' },
    messagesPath: '/apps/anthropic/v1',
  },
  {
    id: 'nvidia',
    name: 'NVIDIA',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    apiKeyVariables: ['NVIDIA_API_KEY'],
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
    checkPath: false,
  },
  {
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiKeyVariables: [],
    host: { variable: 'OLLAMA_HOST', defaultPort: 11_434 },
    cancellable: true,
  },
  {
    // docs.vllm.ai "Reasoning Outputs": whether a model thinks is for its template to say.
    id: 'vllm',
    name: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    apiKeyVariables: [],
    dialect: { reasoningSettings: 'chat_template_kwargs', reasoningEfforts: ['low', 'medium', 'high'] },
    cancellable: true,
  },
  { id: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', apiKeyVariables: [], cancellable: true },
  {
    // tools/server/README.md of llama.cpp: `chat_template_kwargs` as in vLLM.
    id: 'llama.cpp',
    name: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    apiKeyVariables: [],
    dialect: { reasoningSettings: 'chat_template_kwargs', reasoningEfforts: ['low', 'medium', 'high'] },
    cancellable: true,
  },
] as const satisfies readonly KnownProvider[];
