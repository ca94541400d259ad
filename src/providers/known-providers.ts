import type { JsonObject } from '../lib/json.ts';
import type { Dialect } from '../wire/format.ts';

/** A host of the chat format that needs no code of its own. */
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
  /** Members that every request to it carries, where the caller does not set them. */
  readonly body?: JsonObject;
  /** generation.md 6.8: whether hanging up stops the meter. */
  readonly cancellable?: boolean;
}

// Base URLs and variables were read in each vendor's own documentation in 2026-11, where no other source is named.
// Perplexity is missing on purpose: it ended its chat completions on 2026-09-27 (vercel/ai, @ai-sdk/perplexity 5.0.0)
// and now speaks the responses format only.
export const KNOWN_PROVIDERS = [
  {
    // ai.google.dev "OpenAI compatibility": until the gateway speaks the vendor's own format.
    id: 'google',
    name: 'Google AI Studio',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    apiKeyVariables: ['GEMINI_API_KEY'],
  },
  {
    // console.groq.com "API Reference": `max_tokens` is deprecated, `name` of messages is refused.
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    apiKeyVariables: ['GROQ_API_KEY'],
    dialect: { maxCompletionTokens: true },
  },
  {
    // `stream_options` is refused with 422 (openai/openai-agents-python#442, 2025-04); usage comes by itself.
    id: 'mistral',
    name: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    apiKeyVariables: ['MISTRAL_API_KEY'],
    dialect: { streamUsage: false },
  },
  {
    // api-docs.deepseek.com "Thinking Mode": `reasoning_content` of turns with tool calls must come back, else 400.
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    apiKeyVariables: ['DEEPSEEK_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content' },
    cancellable: true,
  },
  {
    id: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    apiKeyVariables: ['XAI_API_KEY'],
    dialect: { maxCompletionTokens: true },
    cancellable: true,
  },
  {
    id: 'together',
    name: 'Together',
    baseUrl: 'https://api.together.ai/v1',
    apiKeyVariables: ['TOGETHER_API_KEY'],
    cancellable: true,
  },
  {
    // docs.fireworks.ai "Thinking history": models read `reasoning_content` of earlier turns.
    id: 'fireworks',
    name: 'Fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    apiKeyVariables: ['FIREWORKS_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content' },
    cancellable: true,
  },
  {
    // openrouter.ai/docs "Reasoning Tokens", "Prompt Caching".
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    apiKeyVariables: ['OPENROUTER_API_KEY'],
    dialect: {
      reasoningMember: 'reasoning_details',
      reasoningSettings: 'reasoning',
      cacheMarks: 'cache_control',
      endUserMember: 'user',
    },
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    apiKeyVariables: ['CEREBRAS_API_KEY'],
    dialect: { maxCompletionTokens: true },
  },
  {
    id: 'deepinfra',
    name: 'DeepInfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    apiKeyVariables: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    cancellable: true,
  },
  {
    // platform.kimi.ai: a turn with tool calls without its `reasoning_content` is refused while thinking is on.
    id: 'moonshotai',
    name: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    apiKeyVariables: ['MOONSHOT_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content' },
  },
  {
    // docs.z.ai "Thinking Mode": reasoning between tool calls must come back unmodified.
    id: 'z-ai',
    name: 'Z.AI',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    apiKeyVariables: ['ZAI_API_KEY', 'Z_AI_API_KEY'],
    dialect: { reasoningMember: 'reasoning_content' },
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
  },
  {
    // alibabacloud.com "Base URL overview": the shared domain of the Singapore region; keys belong to one region.
    id: 'alibaba',
    name: 'Alibaba Cloud',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    apiKeyVariables: ['DASHSCOPE_API_KEY'],
  },
  {
    id: 'nvidia',
    name: 'NVIDIA',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    apiKeyVariables: ['NVIDIA_API_KEY'],
  },
  {
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    apiKeyVariables: [],
    host: { variable: 'OLLAMA_HOST', defaultPort: 11_434 },
    cancellable: true,
  },
  { id: 'vllm', name: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1', apiKeyVariables: [], cancellable: true },
  { id: 'lm-studio', name: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1', apiKeyVariables: [], cancellable: true },
  { id: 'llama.cpp', name: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1', apiKeyVariables: [], cancellable: true },
] as const satisfies readonly KnownProvider[];
