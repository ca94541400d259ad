import { listOf, objectOf, textOf } from '../reported.ts';
import type { Json, JsonObject } from '../../../src/lib/json.ts';
import { readRecordedEvents, type RecordedEvent } from './recorded-events.ts';
import type { RecordedFormat, Recording } from './recordings.ts';

/** A call of a recording. Arguments that stand as an object have no text of their own. */
export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string | JsonObject;
}

/** Counts as the gateway's vocabulary has them: the prompt with the cache, the completion with its reasoning. */
export interface RecordedUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** 0: none, or not reported. */
  readonly reasoning: number;
}

/** What a recording says, read by a few plain lines a format: the judge of what came out of the gateway. */
export interface RecordedFacts {
  /** Stretches of text, each between something that is none. */
  readonly texts: readonly string[];
  readonly reasoning: string;
  /** Signatures and encrypted reasoning. */
  readonly seals: readonly string[];
  readonly calls: readonly RecordedCall[];
  readonly finish: string | undefined;
  readonly usage: RecordedUsage | undefined;
}

class Facts {
  readonly texts: string[] = [];
  reasoning = '';
  readonly seals: string[] = [];
  readonly calls: RecordedCall[] = [];
  finish: string | undefined;
  usage: RecordedUsage | undefined;
  #inText = false;

  text(text: Json | undefined): void {
    if (typeof text !== 'string' || text === '') return;
    if (this.#inText) this.texts[this.texts.length - 1] += text;
    else this.texts.push(text);
    this.#inText = true;
  }

  /** Something that is no text stands here. */
  gap(): void {
    this.#inText = false;
  }

  think(text: Json | undefined): void {
    this.reasoning += textOf(text);
  }

  seal(text: Json | undefined): void {
    if (typeof text === 'string' && text !== '') this.seals.push(text);
  }

  finishWith(reason: Json | undefined): void {
    if (typeof reason === 'string' && reason !== '') this.finish = reason;
  }
}

const READERS: Readonly<Record<RecordedFormat, (events: readonly RecordedEvent[], facts: Facts) => void>> = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  gemini: readGemini,
  converse: readConverse,
  cohere: readCohere,
};

export function readFacts(recording: Recording): RecordedFacts {
  const facts = new Facts();
  READERS[recording.format](readRecordedEvents(recording), facts);
  return facts;
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function readChat(events: readonly RecordedEvent[], facts: Facts): void {
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  for (const { data } of events) {
    const choice = objectOf(listOf(data['choices'])[0]);
    const delta = objectOf(choice['delta'] ?? choice['message']);
    const { content } = delta;
    if (typeof content === 'string') facts.text(content);
    for (const part of listOf(content).map((item) => objectOf(item))) {
      facts.text(part['text']);
      for (const thought of listOf(part['thinking'])) facts.think(objectOf(thought)['text']);
    }
    facts.think(delta['reasoning'] ?? delta['reasoning_content']);
    for (const detail of listOf(delta['reasoning_details']).map((item) => objectOf(item))) {
      facts.seal(detail['signature']);
      facts.seal(detail['data']);
    }
    for (const [position, call] of listOf(delta['tool_calls'])
      .map((item) => objectOf(item))
      .entries()) {
      const index = typeof call['index'] === 'number' ? call['index'] : position;
      const { name, arguments: more } = objectOf(call['function']);
      const before = calls.get(index) ?? { id: '', name: '', arguments: '' };
      calls.set(index, {
        id: before.id === '' ? textOf(call['id']) : before.id,
        name: before.name === '' ? textOf(name) : before.name,
        arguments: before.arguments + textOf(more),
      });
    }
    // A gateway in between also reports the finish reason of the provider behind it.
    facts.finishWith(choice['native_finish_reason'] ?? choice['finish_reason']);
    readChatUsage(objectOf(data['usage'] ?? choice['usage']), facts);
  }
  facts.calls.push(...[...calls.values()].map((call) => ({ ...call, arguments: call.arguments || '{}' })));
}

function readChatUsage(usage: JsonObject, facts: Facts): void {
  if (typeof usage['prompt_tokens'] !== 'number') return;
  const prompt = objectOf(usage['prompt_tokens_details']);
  const completion = count(usage['completion_tokens']);
  const parts = usage['prompt_tokens'] + completion;
  // Google's API in this format does not report reasoning, and includes it only in the total.
  const reported =
    objectOf(usage['completion_tokens_details'])['reasoning_tokens'] ?? count(usage['total_tokens']) - parts;
  const reasoning = Math.max(0, count(reported));
  // xAI counts it beside the completion, which its total shows.
  const beside = usage['total_tokens'] === parts + reasoning ? reasoning : 0;
  facts.usage = {
    prompt: usage['prompt_tokens'],
    completion: completion + beside,
    cacheRead: count(prompt['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    cacheWrite: count(prompt['cache_write_tokens']),
    reasoning,
  };
}

function readMessages(events: readonly RecordedEvent[], facts: Facts): void {
  const usage: Record<string, Json> = {};
  const inputs: string[] = [];
  let call: { id: string; name: string } | undefined;
  const openBlock = (block: JsonObject): void => {
    if (block['type'] !== 'text') facts.gap();
    facts.text(block['text']);
    facts.think(block['thinking']);
    if (block['type'] === 'redacted_thinking') facts.seal(block['data']);
    facts.seal(block['signature']);
    call = block['type'] === 'tool_use' ? { id: textOf(block['id']), name: textOf(block['name']) } : undefined;
    inputs.length = 0;
  };
  for (const { data } of events) {
    const message = data['type'] === 'message' ? data : objectOf(data['message']);
    Object.assign(usage, known(message['usage']), known(data['usage']));
    facts.finishWith(objectOf(data['delta'])['stop_reason'] ?? message['stop_reason']);
    for (const block of listOf(message['content']).map((item) => objectOf(item))) {
      openBlock(block);
      if (call !== undefined) facts.calls.push({ ...call, arguments: objectOf(block['input']) });
    }
    if (data['type'] === 'content_block_start') openBlock(objectOf(data['content_block']));
    const delta = objectOf(data['delta']);
    facts.text(delta['text']);
    facts.think(delta['thinking']);
    facts.seal(delta['signature']);
    if (typeof delta['partial_json'] === 'string') inputs.push(delta['partial_json']);
    if (data['type'] === 'content_block_stop' && call !== undefined)
      facts.calls.push({ ...call, arguments: inputs.join('') || '{}' });
  }
  const cacheRead = count(usage['cache_read_input_tokens']);
  const cacheWrite = count(usage['cache_creation_input_tokens']);
  facts.usage = {
    prompt: count(usage['input_tokens']) + cacheRead + cacheWrite,
    completion: count(usage['output_tokens']),
    cacheRead,
    cacheWrite,
    reasoning: count(objectOf(usage['output_tokens_details'])['thinking_tokens']),
  };
}

function known(usage: Json | undefined): JsonObject {
  return Object.fromEntries(Object.entries(objectOf(usage)).filter(([, value]) => value !== null));
}

/** The items as they stood when they were done, not their deltas. */
function readResponses(events: readonly RecordedEvent[], facts: Facts): void {
  const whole = events.find(({ data }) => data['object'] === 'response')?.data;
  const done = events.flatMap(({ data }) =>
    data['type'] === 'response.output_item.done' ? [objectOf(data['item'])] : [],
  );
  const last = whole ?? objectOf(events.findLast(({ data }) => data['response'] !== undefined)?.data['response']);
  for (const item of whole === undefined ? done : listOf(whole['output']).map((entry) => objectOf(entry))) {
    if (item['type'] !== 'message') facts.gap();
    for (const part of listOf(item['content']).map((entry) => objectOf(entry))) {
      if (part['type'] === 'output_text') facts.text(part['text']);
      if (part['type'] === 'reasoning_text') facts.think(part['text']);
    }
    for (const part of listOf(item['summary'])) facts.think(objectOf(part)['text']);
    facts.seal(item['encrypted_content']);
    const { call_id: callId, name, arguments: text, input } = item;
    if (item['type'] === 'function_call')
      facts.calls.push({ id: textOf(callId), name: textOf(name), arguments: textOf(text) });
    // A search of the caller's own tools is the caller's to make.
    if (item['type'] === 'tool_search_call' && item['execution'] === 'client')
      facts.calls.push({ id: textOf(callId), name: 'tool_search', arguments: objectOf(text) });
    if (item['type'] === 'custom_tool_call')
      facts.calls.push({ id: textOf(callId), name: textOf(name), arguments: { input: textOf(input) } });
  }
  facts.finishWith(objectOf(last['incomplete_details'])['reason'] ?? last['status']);
  const usage = objectOf(last['usage']);
  if (typeof usage['input_tokens'] !== 'number') return;
  facts.usage = {
    prompt: usage['input_tokens'],
    completion: count(usage['output_tokens']),
    cacheRead: count(objectOf(usage['input_tokens_details'])['cached_tokens']),
    cacheWrite: 0,
    reasoning: count(objectOf(usage['output_tokens_details'])['reasoning_tokens']),
  };
}

function readGemini(events: readonly RecordedEvent[], facts: Facts): void {
  for (const { data } of events) {
    const candidate = objectOf(listOf(data['candidates'])[0]);
    for (const part of listOf(objectOf(candidate['content'])['parts']).map((item) => objectOf(item))) {
      if (part['thought'] === true) facts.think(part['text']);
      else facts.text(part['text']);
      facts.seal(part['thoughtSignature']);
      const { id, name, args } = objectOf(part['functionCall']);
      if (name !== undefined) facts.calls.push({ id: textOf(id), name: textOf(name), arguments: objectOf(args) });
    }
    facts.finishWith(candidate['finishReason'] ?? objectOf(data['promptFeedback'])['blockReason']);
    const usage = objectOf(data['usageMetadata']);
    if (typeof usage['promptTokenCount'] !== 'number') continue;
    facts.usage = {
      prompt: usage['promptTokenCount'] + count(usage['toolUsePromptTokenCount']),
      completion: count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']),
      cacheRead: count(usage['cachedContentTokenCount']),
      cacheWrite: 0,
      reasoning: count(usage['thoughtsTokenCount']),
    };
  }
}

function readConverse(events: readonly RecordedEvent[], facts: Facts): void {
  let call: { id: string; name: string; input: string } | undefined;
  const part = (content: JsonObject): void => {
    facts.text(content['text']);
    const reasoning = objectOf(content['reasoningContent']);
    const whole = objectOf(reasoning['reasoningText']);
    facts.think(reasoning['text'] ?? whole['text']);
    facts.seal(reasoning['signature'] ?? whole['signature']);
    facts.seal(reasoning['redactedContent']);
    for (const cited of listOf(objectOf(content['citationsContent'])['content'])) facts.text(objectOf(cited)['text']);
    const tool = objectOf(content['toolUse']);
    if (typeof tool['name'] === 'string')
      facts.calls.push({ id: textOf(tool['toolUseId']), name: tool['name'], arguments: objectOf(tool['input']) });
  };
  for (const { name, data } of events) {
    for (const content of listOf(objectOf(objectOf(data['output'])['message'])['content'])) part(objectOf(content));
    if (name === 'contentBlockDelta') {
      const delta = objectOf(data['delta']);
      if (call === undefined) part(delta);
      else call.input += textOf(objectOf(delta['toolUse'])['input']);
    }
    if (name === 'contentBlockStart') {
      const { toolUseId, name: tool } = objectOf(objectOf(data['start'])['toolUse']);
      if (tool !== undefined) call = { id: textOf(toolUseId), name: textOf(tool), input: '' };
    }
    if (name === 'contentBlockStop') {
      if (call !== undefined) facts.calls.push({ id: call.id, name: call.name, arguments: call.input || '{}' });
      call = undefined;
    }
    facts.finishWith(data['stopReason']);
    const usage = objectOf(data['usage']);
    if (typeof usage['inputTokens'] !== 'number') continue;
    const cacheRead = count(usage['cacheReadInputTokens']);
    const cacheWrite = count(usage['cacheWriteInputTokens']);
    const prompt = usage['inputTokens'] + cacheRead + cacheWrite;
    facts.usage = { prompt, completion: count(usage['outputTokens']), cacheRead, cacheWrite, reasoning: 0 };
  }
}

function readCohere(events: readonly RecordedEvent[], facts: Facts): void {
  const inputs: string[] = [];
  let call: { id: string; name: string } | undefined;
  for (const { data } of events) {
    const delta = data['message'] === undefined ? objectOf(data['delta']) : data;
    const message = objectOf(delta['message']);
    for (const content of [objectOf(message['content']), ...listOf(message['content']).map((part) => objectOf(part))]) {
      facts.text(content['text']);
      facts.think(content['thinking']);
    }
    facts.think(message['tool_plan']);
    for (const made of listOf(message['tool_calls']).map((item) => objectOf(item))) {
      const { name: called, arguments: given } = objectOf(made['function']);
      facts.calls.push({ id: textOf(made['id']), name: textOf(called), arguments: textOf(given) });
    }
    const tool = objectOf(message['tool_calls']);
    const { name, arguments: text } = objectOf(tool['function']);
    if (data['type'] === 'tool-call-start') call = { id: textOf(tool['id']), name: textOf(name) };
    if (typeof text === 'string') inputs.push(text);
    if (data['type'] === 'tool-call-end' && call !== undefined)
      facts.calls.push({ ...call, arguments: inputs.splice(0).join('') || '{}' });
    facts.finishWith(delta['finish_reason']);
    const usage = objectOf(delta['usage']);
    const tokens = objectOf(usage['tokens']);
    if (typeof tokens['input_tokens'] !== 'number') continue;
    facts.usage = {
      prompt: tokens['input_tokens'],
      completion: count(tokens['output_tokens']),
      cacheRead: count(usage['cached_tokens']),
      cacheWrite: 0,
      reasoning: count(tokens['reasoning_tokens']),
    };
  }
}
