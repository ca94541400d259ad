import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { Refusal } from './refusal.ts';
import { countTokens } from './tokens.ts';

const DIMENSIONS_DEFAULT = 256;
const DIMENSIONS_MIN = 8;
const DIMENSIONS_MAX = 4_096;
const INPUTS_MAX = 2_048;
const FLOAT_BYTES = 4;
const PAIR_WEIGHT = 0.5;

/** The model that makes vectors. */
export const EMBED = 'embed';

/** The answer of `POST /v1/embeddings`, as JSON text: the vendor's form. @throws Refusal */
export function embed(body: Json | undefined): string {
  if (!isJsonObject(body)) throw new Refusal(400, 'We could not parse the JSON body of your request.');
  const { model, input, encoding_format: encoding = 'float', dimensions = DIMENSIONS_DEFAULT } = body;
  const name = typeof model === 'string' ? model.replace(/^sandbox\//, '') : '';
  const error = /^error-([45]\d\d)$/.exec(name);
  if (error !== null) throw new Refusal(Number(error[1]), 'The request was refused.');
  if (name !== EMBED)
    throw new Refusal(404, `The model \`${name.slice(0, 100)}\` does not exist.`, { code: 'model_not_found' });
  if (
    typeof dimensions !== 'number' ||
    !Number.isInteger(dimensions) ||
    dimensions < DIMENSIONS_MIN ||
    dimensions > DIMENSIONS_MAX
  )
    throw new Refusal(400, `dimensions: must be from ${DIMENSIONS_MIN} to ${DIMENSIONS_MAX}.`);
  if (encoding !== 'float' && encoding !== 'base64')
    throw new Refusal(400, 'encoding_format: must be float or base64.');
  const inputs = inputsOf(input);
  const data = inputs.map((words, index) => {
    const vector = vectorOf(words, dimensions);
    const embedding = encoding === 'float' ? [...vector] : encodeBase64(vector);
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce((sum, words) => sum + words.tokens, 0);
  return JSON.stringify({ object: 'list', data, model: EMBED, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

interface Words {
  readonly words: readonly string[];
  readonly tokens: number;
}

function inputsOf(input: Json | undefined): readonly Words[] {
  const items: readonly unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  if (items.length === 0 || items.length > INPUTS_MAX) throw new Refusal(400, 'input: must have 1 to 2048 items.');
  return items.map((item) => {
    if (typeof item === 'string' && item !== '') return { words: wordsOf(item), tokens: countTokens(item) };
    if (isJsonObject(item)) return contentOf(item);
    if (Array.isArray(item) && item.length > 0) return { words: item.map(String), tokens: item.length };
    throw new Refusal(400, 'input: must be a text, content, or a list of tokens.');
  });
}

const MEDIA_TOKENS = 16;
const DIGEST_WORD_CHARS = 4;

/** All parts together are one bag of words; the digest of what is no text stands for it. */
function contentOf({ content }: JsonObject): Words {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  if (parts.length === 0) throw new Refusal(400, 'input: content must be a list of parts.');
  const words: string[] = [];
  let tokens = 0;
  for (const part of parts) {
    if (!isJsonObject(part)) throw new Refusal(400, 'input: a part must be an object.');
    const { text } = part;
    if (part['type'] === 'text' && typeof text === 'string') {
      words.push(...wordsOf(text));
      tokens += countTokens(text);
    } else {
      const digest = createHash('sha256').update(JSON.stringify(part)).digest('hex');
      for (let at = 0; at < digest.length; at += DIGEST_WORD_CHARS)
        words.push(digest.slice(at, at + DIGEST_WORD_CHARS));
      tokens += MEDIA_TOKENS;
    }
  }
  return { words, tokens };
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
}

/** A bag of words and of pairs of neighbours, scaled to length 1: equal texts have equal vectors, similar ones close ones. */
function vectorOf({ words }: Words, dimensions: number): Float32Array {
  const sums = new Float64Array(dimensions);
  const add = (term: string, weight: number): void => {
    const hashed = fnv1a(term);
    const at = hashed % dimensions;
    sums[at] = (sums[at] ?? 0) + (hashed >= 0x8000_0000 ? -weight : weight);
  };
  words.forEach((word, at) => {
    add(word, 1);
    const next = words[at + 1];
    if (next !== undefined) add(`${word} ${next}`, PAIR_WEIGHT);
  });
  const length = Math.hypot(...sums) || 1;
  return Float32Array.from(sums, (sum) => sum / length);
}

/** 32 bits. @source RFC 9923, "FNV-1a" */
function fnv1a(text: string): number {
  let hashed = 0x811c_9dc5;
  for (const byte of Buffer.from(text)) hashed = Math.imul(hashed ^ byte, 0x0100_0193) >>> 0;
  return hashed;
}

function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * FLOAT_BYTES);
  vector.forEach((value, at) => bytes.writeFloatLE(value, at * FLOAT_BYTES));
  return bytes.toString('base64');
}
