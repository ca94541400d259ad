import { createHash } from 'node:crypto';
import { parseJsonObject, parseKeepingNumbers } from '../../../src/lib/json.ts';
import { formatOfPath, speak, type SpokenFormat } from './speak.ts';
import type { SpokenPart } from './spoken.ts';
import { listOf, objectOf } from '../reported.ts';
import type { Arrived, Script } from '../upstream.ts';

/** The member that holds the conversation. */
const CONVERSATION: Readonly<Record<SpokenFormat, string>> = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
  gemini: 'contents',
  converse: 'messages',
  cohere: 'messages',
};
/** What stands before the conversation in the prompt, whatever its place in the body. */
const PREAMBLE = ['tools', 'toolConfig', 'system', 'instructions', 'systemInstruction'];
/** Formats whose vendors cache only up to a breakpoint, and charge for that. */
const BY_MARKS: ReadonlySet<SpokenFormat> = new Set(['messages', 'converse']);
const MARK = /,"cache_control":\{[^}]*\}|,\{"cachePoint":\{[^}]*\}\}|,"prompt_cache_breakpoint":\{[^}]*\}/g;
/** Says how the answer is delivered, and nothing of the prompt. */
const DELIVERY = /,"eager_input_streaming":true/g;
/** Bytes that count as a token. */
const TOKEN_BYTES = 4;

/** A body as its upstream caches it. */
export interface CachedBody {
  readonly format: SpokenFormat;
  /** Everything up to the end of the conversation, byte for byte, without marks. */
  readonly prefix: string;
  /** The members behind the conversation. */
  readonly behind: string;
  /** Pieces of the prompt in its order, without marks. */
  readonly pieces: readonly string[];
  /** How many pieces the last mark covers. */
  readonly marked: number;
}

export function readBody({ path, text: sent }: Pick<Arrived, 'path' | 'text'>): CachedBody {
  const text = sent.replaceAll(DELIVERY, '');
  const format = formatOfPath(path);
  const body = objectOf(parseKeepingNumbers(text));
  const member = CONVERSATION[format];
  const written = [
    ...PREAMBLE.flatMap((name) => (body[name] === undefined ? [] : [JSON.stringify(body[name])])),
    ...listOf(body[member]).map((item) => JSON.stringify(item)),
  ];
  const bare = text.replaceAll(MARK, '');
  const conversation = `"${member}":${JSON.stringify(body[member]).replaceAll(MARK, '')}`;
  const at = bare.indexOf(conversation);
  if (at < 0) throw new Error(`the conversation is not written as it is read: ${text.slice(0, 500)}`);
  return {
    format,
    prefix: bare.slice(0, at + conversation.length - 1),
    behind: bare.slice(at + conversation.length),
    pieces: written.map((piece) => piece.replaceAll(MARK, '')),
    // The mark of the whole request stands on its last block.
    marked:
      body['cache_control'] === undefined
        ? written.findLastIndex((piece) => piece.search(MARK) >= 0) + 1
        : written.length,
  };
}

/**
 * Answers step by step, and caches prefixes of the prompt by their hashes, as vendors do: where marks are wanted, up to
 * the last mark, and elsewhere as far as it goes. What it read and wrote stands in the usage of its answers.
 * @param answerTo what it says to a conversation with this many answers in it
 */
export function cachePrompts(answerTo: (answers: number) => readonly SpokenPart[]): Script {
  const known = new Set<string>();
  return (arrived, response, request) => {
    const { format, pieces, marked } = readBody(arrived);
    const byMarks = BY_MARKS.has(format);
    const prefixes = pieces.map((_piece, at) => pieces.slice(0, at + 1));
    const cacheable = byMarks ? prefixes.slice(0, marked) : prefixes;
    const read = tokensOf(prefixes.findLast((prefix) => known.has(hashOf(prefix))) ?? []);
    for (const prefix of cacheable) known.add(hashOf(prefix));
    const written = byMarks ? Math.max(0, tokensOf(cacheable.at(-1) ?? []) - read) : 0;
    const answers = pieces.filter(isAnswer).length;
    const usage = { prompt: tokensOf(pieces), completion: 7, read, written };
    void speak({ parts: answerTo(answers), usage })(arrived, response, request);
  };
}

function hashOf(pieces: readonly string[]): string {
  return createHash('sha256').update(pieces.join('\n')).digest('hex');
}

function tokensOf(pieces: readonly string[]): number {
  return Math.ceil(pieces.join('').length / TOKEN_BYTES);
}

/** Whether a piece holds a call or a text of the model. Items of one answer count once: by its text. */
function isAnswer(piece: string): boolean {
  const role = parseJsonObject(piece)?.['role'];
  return role === 'assistant' || role === 'model';
}
