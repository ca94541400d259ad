import { isRecord } from '../../api/errors.ts';
import type { ChatMessage, ToolCall } from '../../api/generation/response.ts';
import { oneOf } from '../../parts/search.ts';
import { EFFORTS, NO_SETTINGS, SORTS, type Settings } from './request/settings.ts';
import { COLUMNS_MAX } from './search.ts';

/** What a copied link of the playground restores: the settings, and the messages of each column. */
export interface Linked {
  readonly settings: Settings;
  readonly threads: readonly (readonly ChatMessage[])[];
}

/** A longer conversation is left out of the address. */
export const LINK_CHARS_MAX = 32_000;
/** A short text can hide a long one: what a link expands to ends here. */
const EXPANDED_BYTES_MAX = 4_000_000;
const MESSAGES_MAX = 500;

/** The fragment of the address; empty where there is nothing to link, undefined where it would be too long. */
export async function encodeLink({ settings, threads }: Linked): Promise<string | undefined> {
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
  if (Object.keys(set).length === 0 && threads.every((messages) => messages.length === 0)) return '';
  const text = JSON.stringify({ settings: set, threads });
  // A character has at most 3 bytes.
  if (text.length > EXPANDED_BYTES_MAX / 3) return undefined;
  const deflated = await new Response(
    new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw')),
  ).arrayBuffer();
  const link = toBase64Url(new Uint8Array(deflated));
  return link.length > LINK_CHARS_MAX ? undefined : link;
}

/** @returns undefined for what is no link of the playground */
export async function decodeLink(link: string): Promise<Linked | undefined> {
  if (link === '' || link.length > LINK_CHARS_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(await inflate(fromBase64Url(link)));
    if (!isRecord(value) || !Array.isArray(value['threads'])) return undefined;
    const settings = isRecord(value['settings']) ? value['settings'] : {};
    return { settings: readSettings(settings), threads: value['threads'].slice(0, COLUMNS_MAX).map(readMessages) };
  } catch {
    // A link that was cut, or is of something else: the page begins empty.
    return undefined;
  }
}

function toBase64Url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCodePoint(byte)).join('');
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.codePointAt(0) ?? 0);
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > EXPANDED_BYTES_MAX) {
      await reader.cancel();
      throw new RangeError('The link expands to too much.');
    }
    text += decoder.decode(next.value, { stream: true });
  }
  return text + decoder.decode();
}

/** A preset stands in the query, where it can be seen. */
function readSettings(value: Readonly<Record<string, unknown>>): Settings {
  const textOf = (name: keyof Settings): string => (typeof value[name] === 'string' ? value[name] : '');
  return {
    ...NO_SETTINGS,
    system: textOf('system'),
    temperature: textOf('temperature'),
    maxTokens: textOf('maxTokens'),
    tools: textOf('tools'),
    more: textOf('more'),
    effort: oneOf(textOf('effort'), EFFORTS),
    sort: oneOf(textOf('sort'), SORTS),
  };
}

function readMessages(value: unknown): readonly ChatMessage[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MESSAGES_MAX).flatMap(readMessage);
}

function readMessage(value: unknown): readonly ChatMessage[] {
  if (!isRecord(value)) return [];
  const { role, content, tool_calls: calls, tool_call_id: id } = value;
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return [];
  if (typeof content !== 'string' && !Array.isArray(content)) return [];
  const toolCalls = Array.isArray(calls) ? calls.flatMap(readCall) : [];
  return [
    {
      role,
      content: typeof content === 'string' ? content : content.filter(isRecord),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
      ...(typeof id === 'string' && { tool_call_id: id }),
    },
  ];
}

function readCall(value: unknown): readonly ToolCall[] {
  const part = isRecord(value) ? value['function'] : undefined;
  if (!isRecord(value) || !isRecord(part)) return [];
  const [{ id }, { name, arguments: text }] = [value, part];
  if (typeof id !== 'string' || typeof name !== 'string' || typeof text !== 'string') return [];
  return [{ id, type: 'function', function: { name, arguments: text } }];
}
