import type { ChatMessage } from '../../api/chat-stream.ts';
import { isRecord } from '../../api/errors.ts';
import { parseNumber, problemOfNumber } from '../../parts/number-text.ts';

export interface Settings {
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: '' | 'low' | 'medium' | 'high';
  readonly sort: '' | 'price' | 'throughput' | 'latency';
  /** Functions as JSON, as the body has them. */
  readonly tools: string;
  /** Further members of the body as JSON: `provider`, `plugins`, `response_format`. */
  readonly more: string;
  readonly preset: string;
}

export const NO_SETTINGS: Settings = {
  system: '',
  temperature: '',
  maxTokens: '',
  effort: '',
  sort: '',
  tools: '',
  more: '',
  preset: '',
};

/** What is wrong with the functions; `undefined`: nothing. */
export function problemOfTools(tools: string): string | undefined {
  return problemOfJson(tools, (value) => (Array.isArray(value) ? undefined : 'An array of functions is expected.'));
}

/** What is wrong with the further members; `undefined`: nothing. */
export function problemOfMore(more: string): string | undefined {
  return problemOfJson(more, (value) => (isRecord(value) ? undefined : 'An object is expected.'));
}

function problemOfJson(text: string, problemOf: (value: unknown) => string | undefined): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    return problemOf(JSON.parse(text));
  } catch (error) {
    return error instanceof Error ? error.message : 'This is no JSON.';
  }
}

/** Of the field for the most tokens. */
export const TOKEN_RULES = { isWhole: true, min: 1 } as const;

/** The first field that cannot be sent, with its problem; `undefined`: all can. */
export function problemOfSettings({ temperature, maxTokens, tools, more }: Settings): string | undefined {
  const problems = [
    ['Temperature', problemOfNumber(temperature)],
    ['Most tokens out', problemOfNumber(maxTokens, TOKEN_RULES)],
    ['Functions', problemOfTools(tools)],
    ['More of the body', problemOfMore(more)],
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
  const { system, effort, sort, tools, more, preset } = settings;
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
    ...membersOf(more),
  };
}

function membersOf(more: string): Readonly<Record<string, unknown>> {
  if (more.trim() === '' || problemOfMore(more) !== undefined) return {};
  const value: unknown = JSON.parse(more);
  return isRecord(value) ? value : {};
}
