import type { ChatMessage } from '../../api/chat-stream.ts';
import { parseNumber, problemOfNumber } from '../../parts/number-text.ts';

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

/** Of the field for the most tokens. */
export const TOKEN_RULES = { isWhole: true, min: 1 } as const;

/** The first field that cannot be sent, with its problem; `undefined`: all can. */
export function problemOfSettings({ temperature, maxTokens, tools }: Settings): string | undefined {
  const problems = [
    ['Temperature', problemOfNumber(temperature)],
    ['Most tokens out', problemOfNumber(maxTokens, TOKEN_RULES)],
    ['Functions', problemOfTools(tools)],
  ] as const;
  const [found] = problems.flatMap(([field, problem]) => (problem === undefined ? [] : [`${field}: ${problem}`]));
  return found;
}

/** The request of one column, as it is sent and as it is shown. */
export function toBody(
  model: string,
  messages: readonly ChatMessage[],
  settings: Settings,
): Readonly<Record<string, unknown>> {
  const { system, effort, sort, tools, preset } = settings;
  const [heat, tokens] = [parseNumber(settings.temperature), parseNumber(settings.maxTokens, TOKEN_RULES)];
  return {
    model,
    messages: [...(system.trim() === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...(heat !== undefined && { temperature: heat }),
    ...(tokens !== undefined && { max_tokens: tokens }),
    ...(effort !== '' && { reasoning: { effort } }),
    ...(sort !== '' && { provider: { sort } }),
    ...(tools.trim() !== '' && problemOfTools(tools) === undefined && { tools: JSON.parse(tools) as unknown }),
    ...(preset !== '' && { preset }),
  };
}
