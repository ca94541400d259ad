import type { ChatMessage } from '../../api/chat-stream.ts';

export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: '' | 'low' | 'medium' | 'high';
  readonly sort: '' | 'price' | 'throughput' | 'latency';
  /** Functions as JSON, as the body has them. */
  readonly tools: string;
  readonly preset: string;
}

export const NO_SETTINGS: Settings = {
  system: '',
  temperature: '',
  maxTokens: '',
  effort: '',
  sort: '',
  tools: '',
  preset: '',
};

/** What is wrong with the functions; `undefined`: nothing. */
export function problemOfTools(tools: string): string | undefined {
  if (tools.trim() === '') return undefined;
  try {
    return Array.isArray(JSON.parse(tools)) ? undefined : 'An array of functions is expected.';
  } catch (error) {
    return error instanceof Error ? error.message : 'This is no JSON.';
  }
}

/** The request of one column, as it is sent and as it is shown. */
export function toBody(
  model: string,
  messages: readonly ChatMessage[],
  settings: Settings,
): Readonly<Record<string, unknown>> {
  const { system, temperature, maxTokens, effort, sort, tools, preset } = settings;
  return {
    model,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(temperature !== '' && { temperature: Number(temperature) }),
    ...(maxTokens !== '' && { max_tokens: Number(maxTokens) }),
    ...(effort !== '' && { reasoning: { effort } }),
    ...(sort !== '' && { provider: { sort } }),
    ...(tools.trim() !== '' && problemOfTools(tools) === undefined && { tools: JSON.parse(tools) as unknown }),
    ...(preset !== '' && { preset }),
  };
}
