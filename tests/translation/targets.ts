import type { RequestTarget } from '../support/prepare-request.ts';

/** Every format that upstreams speak; where they differ most, one plain host and the vendor itself. */
export const TARGETS = {
  chat: { adapter: 'openai', model: 'gpt-5.6', format: 'chat' },
  'chat-plain': { adapter: 'openai-compatible', model: 'one-2026', format: 'chat' },
  messages: { adapter: 'anthropic', model: 'claude-sonnet-4-6', format: 'messages' },
  'messages-plain': { adapter: 'messages-compatible', model: 'one-2026', format: 'messages' },
  gemini: { adapter: 'google', model: 'gemini-3-pro-preview', format: 'gemini' },
  'gemini-2': { adapter: 'google', model: 'gemini-2.5-flash', format: 'gemini' },
  responses: { adapter: 'openai', model: 'gpt-5.6', format: 'responses' },
  converse: { adapter: 'bedrock', model: 'us.anthropic.claude-sonnet-4-6-v1:0', format: 'converse' },
  'converse-nova': { adapter: 'bedrock', model: 'us.amazon.nova-2-lite-v1:0', format: 'converse' },
  cohere: { adapter: 'cohere', model: 'command-a-03-2025', format: 'cohere' },
} as const satisfies Readonly<Record<string, RequestTarget>>;

export type TargetName = keyof typeof TARGETS;
