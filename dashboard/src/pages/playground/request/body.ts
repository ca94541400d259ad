import { isRecord } from '../../../api/errors.ts';
import type { ChatMessage, Format } from '../../../api/generation/response.ts';
import { parseNumber } from '../../../parts/number-text.ts';
import { problemOfMore, problemOfTools, TOKEN_RULES, type Settings } from './settings.ts';
import { toMessagesTools, toMessagesTurns } from './messages.ts';
import { toResponsesInput, toResponsesTools } from './responses.ts';

export type Body = Readonly<Record<string, unknown>>;

/** What the formats spell differently. */
interface Parts {
  readonly messages: readonly ChatMessage[];
  readonly system: string | undefined;
  readonly tools: readonly unknown[] | undefined;
  readonly maxTokens: number | undefined;
  readonly effort: string | undefined;
}

/** The request of one column in its format, as it is sent and as it is shown. */
export function toBody(format: Format, model: string, messages: readonly ChatMessage[], settings: Settings): Body {
  const { system, effort, sort, tools, more, preset } = settings;
  const temperature = parseNumber(settings.temperature);
  return {
    model,
    ...SPELLINGS[format]({
      messages,
      system: system.trim() === '' ? undefined : system,
      tools: toolsOf(tools),
      maxTokens: parseNumber(settings.maxTokens, TOKEN_RULES),
      effort: effort === '' ? undefined : effort,
    }),
    ...(temperature !== undefined && { temperature }),
    ...(sort !== '' && { provider: { sort } }),
    ...(preset !== '' && { preset }),
    ...membersOf(more),
  };
}

const SPELLINGS: Readonly<Record<Format, (parts: Parts) => Body>> = {
  chat: ({ messages, system, tools, maxTokens, effort }) => ({
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(tools !== undefined && { tools }),
  }),
  messages: ({ messages, system, tools, maxTokens, effort }) => ({
    ...(system !== undefined && { system }),
    messages: toMessagesTurns(messages),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(effort !== undefined && { thinking: { type: 'adaptive' }, output_config: { effort } }),
    ...(tools !== undefined && { tools: toMessagesTools(tools) }),
  }),
  // The conversation is in the request: the gateway need not keep it.
  responses: ({ messages, system, tools, maxTokens, effort }) => ({
    ...(system !== undefined && { instructions: system }),
    input: toResponsesInput(messages),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(tools !== undefined && { tools: toResponsesTools(tools) }),
    store: false,
  }),
};

function toolsOf(text: string): readonly unknown[] | undefined {
  if (text.trim() === '' || problemOfTools(text) !== undefined) return undefined;
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value : undefined;
}

function membersOf(more: string): Body {
  if (more.trim() === '' || problemOfMore(more) !== undefined) return {};
  const value: unknown = JSON.parse(more);
  return isRecord(value) ? value : {};
}
