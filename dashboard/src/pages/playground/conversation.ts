import { useEffect, useRef, useState } from 'react';
import { NO_RESPONSE, type ChatMessage, type ChatResponse, type Format } from '../../api/generation/response.ts';
import { streamGeneration } from '../../api/generation/stream.ts';
import { toBody } from './request/body.ts';
import { imagesOfContent, toUserMessage } from './request/content.ts';
import { problemOfSettings, type Settings } from './request/settings.ts';

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
  /** Writes a turn anew, in every column that has it, and continues from there. */
  readonly edit: (at: number, turn: ChatMessage, text: string) => void;
  /** Runs the last turn of one column again. */
  readonly retry: (model: string) => void;
  readonly stop: (model?: string) => void;
  readonly answerTool: (model: string, results: Readonly<Record<string, string>>) => void;
  readonly clear: () => void;
  /** Takes the messages of each column from a link. */
  readonly restore: (threads: readonly (readonly ChatMessage[])[]) => void;
}

/** Threads of the chosen models. What streams is rendered once a frame, whatever comes in between. */
export function useConversation(models: readonly string[], format: Format, settings: Settings): Conversation {
  const { threadOf, change, replaceAll } = useThreads();
  const running = useRunning();
  const run = async (model: string, messages: readonly ChatMessage[]): Promise<void> => {
    if (problemOfSettings(settings) !== undefined) return;
    running.get(model)?.abort();
    const controller = new AbortController();
    running.set(model, controller);
    change(model, { messages, response: NO_RESPONSE, isRunning: true });
    await streamGeneration(format, toBody(format, model, messages, settings), controller.signal, (response) => {
      // What was replaced meanwhile says no more.
      if (running.get(model) === controller) change(model, { response });
    });
    if (running.get(model) !== controller) return;
    running.delete(model);
    change(model, { isRunning: false });
  };
  const stop = (model?: string): void => {
    for (const [name, controller] of running) if (model === undefined || name === model) controller.abort();
  };
  const restore = (restored: readonly (readonly ChatMessage[])[]): void => {
    stop();
    running.clear();
    replaceAll(models.map((model, at) => toThread(model, restored[at] ?? [])));
  };
  return {
    threads: models.map(threadOf),
    send: (text, images) => {
      for (const model of models) void run(model, [...saidIn(threadOf(model)), toUserMessage(text, images)]);
    },
    edit: (at, turn, text) => {
      for (const model of models) {
        const { messages } = threadOf(model);
        if (isSameTurn(messages[at], turn))
          void run(model, [...messages.slice(0, at), toUserMessage(text, imagesOfContent(turn.content))]);
      }
    },
    retry: (model) => void run(model, threadOf(model).messages),
    stop,
    answerTool: (model, results) => {
      const thread = threadOf(model);
      const tools = thread.response.toolCalls.map(({ id }): ChatMessage => ({
        role: 'tool',
        tool_call_id: id,
        content: results[id] ?? '',
      }));
      void run(model, [...saidIn(thread), ...tools]);
    },
    clear: () => restore([]),
    restore,
  };
}

interface Threads {
  readonly threadOf: (model: string) => Thread;
  readonly change: (model: string, patch: Partial<Thread>) => void;
  readonly replaceAll: (threads: readonly Thread[]) => void;
}

function useThreads(): Threads {
  const [threads, setThreads] = useState<ReadonlyMap<string, Thread>>(new Map());
  const pending = useRef(new Map<string, Partial<Thread>>());
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  const flush = (): void => {
    frame.current = 0;
    const patches = new Map(pending.current);
    pending.current.clear();
    setThreads((before) => {
      const next = new Map(before);
      for (const [model, patch] of patches)
        next.set(model, { ...(before.get(model) ?? toThread(model, [])), ...patch });
      return next;
    });
  };
  return {
    threadOf: (model) => threads.get(model) ?? toThread(model, []),
    change: (model, patch) => {
      pending.current.set(model, { ...pending.current.get(model), ...patch });
      frame.current ||= requestAnimationFrame(flush);
    },
    replaceAll: (all) => {
      pending.current.clear();
      setThreads(new Map(all.map((thread) => [thread.model, thread])));
    },
  };
}

/** The requests under way, which end with the page. */
function useRunning(): Map<string, AbortController> {
  const [running] = useState(() => new Map<string, AbortController>());
  useEffect(
    () => () => {
      for (const controller of running.values()) controller.abort();
    },
    [running],
  );
  return running;
}

/** The last response of a thread stands apart from its messages. */
function toThread(model: string, said: readonly ChatMessage[]): Thread {
  const last = said.at(-1);
  if (last?.role !== 'assistant') return { model, messages: said, response: NO_RESPONSE, isRunning: false };
  const response = {
    ...NO_RESPONSE,
    text: typeof last.content === 'string' ? last.content : '',
    toolCalls: last.tool_calls ?? [],
  };
  return { model, messages: said.slice(0, -1), response, isRunning: false };
}

/** The messages of a thread, its last response included. */
export function saidIn({ messages, response }: Thread): readonly ChatMessage[] {
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

function isSameTurn(one: ChatMessage | undefined, other: ChatMessage): boolean {
  return one?.role === other.role && JSON.stringify(one.content) === JSON.stringify(other.content);
}
