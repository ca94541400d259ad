import { useEffect, useRef, useState } from 'react';
import { NO_RESPONSE, streamChat, type ChatResponse, type ChatMessage } from '../../api/chat-stream.ts';
import { problemOfSettings, toBody, type Settings } from './settings.ts';

/** One model with its own thread: the same messages, its own responses. */
export interface Thread {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly response: ChatResponse;
  readonly isRunning: boolean;
}

export interface Conversation {
  readonly threads: readonly Thread[];
  readonly send: (text: string, images: readonly string[]) => void;
  /** Runs the last turn of one column again. */
  readonly retry: (model: string) => void;
  readonly stop: (model?: string) => void;
  readonly answerTool: (model: string, results: Readonly<Record<string, string>>) => void;
  readonly clear: () => void;
}

/** Threads of the chosen models. What streams is rendered once a frame, whatever comes in between. */
export function useConversation(models: readonly string[], settings: Settings): Conversation {
  const [threads, setThreads] = useState<ReadonlyMap<string, Thread>>(new Map());
  const running = useRef(new Map<string, AbortController>());
  const pending = useRef(new Map<string, Partial<Thread>>());
  const frame = useRef(0);
  useEffect(
    () => () => {
      cancelAnimationFrame(frame.current);
      for (const controller of running.current.values()) controller.abort();
    },
    [],
  );
  const threadOf = (model: string): Thread =>
    threads.get(model) ?? { model, messages: [], response: NO_RESPONSE, isRunning: false };
  const flush = (): void => {
    frame.current = 0;
    const patches = new Map(pending.current);
    pending.current.clear();
    setThreads((before) => {
      const next = new Map(before);
      for (const [model, patch] of patches)
        next.set(model, {
          model,
          messages: [],
          response: NO_RESPONSE,
          isRunning: false,
          ...before.get(model),
          ...patch,
        });
      return next;
    });
  };
  const change = (model: string, patch: Partial<Thread>): void => {
    pending.current.set(model, { ...pending.current.get(model), ...patch });
    frame.current ||= requestAnimationFrame(flush);
  };
  const run = async (model: string, messages: readonly ChatMessage[]): Promise<void> => {
    if (problemOfSettings(settings) !== undefined) return;
    running.current.get(model)?.abort();
    const controller = new AbortController();
    running.current.set(model, controller);
    change(model, { messages, response: NO_RESPONSE, isRunning: true });
    await streamChat(toBody(model, messages, settings), controller.signal, (response) => change(model, { response }));
    if (running.current.get(model) !== controller) return;
    running.current.delete(model);
    change(model, { isRunning: false });
  };
  return {
    threads: models.map(threadOf),
    send: (text, images) => {
      for (const model of models) void run(model, [...withResponse(threadOf(model)), toUserMessage(text, images)]);
    },
    retry: (model) => void run(model, threadOf(model).messages),
    stop: (model) => {
      for (const [name, controller] of running.current) if (model === undefined || name === model) controller.abort();
    },
    answerTool: (model, results) => {
      const thread = threadOf(model);
      const tools = thread.response.toolCalls.map(({ id }): ChatMessage => ({
        role: 'tool',
        tool_call_id: id,
        content: results[id] ?? '',
      }));
      void run(model, [...withResponse(thread), ...tools]);
    },
    clear: () => setThreads(new Map()),
  };
}

/** The messages of a thread, its last response included. */
function withResponse({ messages, response }: Thread): readonly ChatMessage[] {
  if (response.text === '' && response.toolCalls.length === 0)
    return messages.at(-1)?.role === 'user' ? messages.slice(0, -1) : messages;
  return [
    ...messages,
    {
      role: 'assistant',
      content: response.text,
      ...(response.toolCalls.length > 0 && { tool_calls: response.toolCalls }),
    },
  ];
}

function toUserMessage(text: string, images: readonly string[]): ChatMessage {
  if (images.length === 0) return { role: 'user', content: text };
  return {
    role: 'user',
    content: [{ type: 'text', text }, ...images.map((url) => ({ type: 'image_url', image_url: { url } }))],
  };
}
