import { ApiError, isRecord } from '../errors.ts';
import type { ChatResponse, StreamEvent, ToolCall } from './response.ts';

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function recordOf(value: unknown): StreamEvent {
  return isRecord(value) ? value : {};
}

/** Usage by the names that the format has for tokens in and out. */
export function readUsage(value: unknown, prompt: string, completion: string): ChatResponse['usage'] {
  if (!isRecord(value)) return undefined;
  return {
    promptTokens: Number(value[prompt]) || 0,
    completionTokens: Number(value[completion]) || 0,
    costUsd: typeof value['cost'] === 'number' ? value['cost'] : undefined,
  };
}

export function failureOf(error: unknown): ApiError {
  const { code, message } = recordOf(error);
  return new ApiError(Number(code) || 502, textOf(message) ?? 'The stream broke off.');
}

/** The calls with a further piece of one of them. */
export function addToCall(
  calls: readonly ToolCall[],
  at: number,
  piece: { readonly id?: string | undefined; readonly name?: string | undefined; readonly text?: string | undefined },
): readonly ToolCall[] {
  const known = calls[at];
  const next = [...calls];
  next[at] = {
    id: piece.id ?? known?.id ?? '',
    type: 'function',
    function: {
      name: (known?.function.name ?? '') + (piece.name ?? ''),
      arguments: (known?.function.arguments ?? '') + (piece.text ?? ''),
    },
  };
  return next;
}

/** What went upstream, where an event has it. */
export function withUpstream(before: ChatResponse, { debug, provider }: StreamEvent): ChatResponse['upstream'] {
  if (!isRecord(debug)) return before.upstream;
  return [...before.upstream, { provider: textOf(provider), body: debug['echo_upstream_body'] }];
}
