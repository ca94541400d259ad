import type { JsonObject } from '../lib/json.ts';
import { isJsonObject, parseJson } from '../lib/json.ts';

/** A model as people may name it. */
export interface NamedModel {
  readonly slug: string;
  readonly name: string;
  readonly family?: string;
  /** `2026-02`. */
  readonly released?: string;
}

/** One body for `POST /chat/completions`. */
export interface RequestBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** Bodies of one answer. */
const BODIES_MAX = 16;
const CONTENT_CHARS_MAX = 100_000;
/** Part of the user's text that is searched for names. */
const USER_TEXT_CHARS_MAX = 8_000;
const ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant']);

/** What an answer has to look like. */
export const BODIES_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    requests: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          model: { type: 'string' },
          messages: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                role: { type: 'string', enum: [...ROLES] },
                content: { type: 'string' },
              },
              required: ['role', 'content'],
              additionalProperties: false,
            },
          },
        },
        required: ['model', 'messages'],
        additionalProperties: false,
      },
    },
  },
  required: ['requests'],
  additionalProperties: false,
};

/**
 * Bodies that a model wrote, with concrete slugs; `undefined` if it wrote something else.
 * @param resolve the slug that a name stands for; `undefined`: it is not served
 */
export function readBodies(
  text: string,
  resolve: (slug: string) => string | undefined,
): readonly RequestBody[] | undefined {
  const stated = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  const requests = isJsonObject(stated) ? stated['requests'] : undefined;
  if (!Array.isArray(requests) || requests.length === 0) return undefined;
  const bodies = requests.slice(0, BODIES_MAX).map((entry: unknown) => readBody(entry, resolve));
  return bodies.every((body) => body !== undefined) ? bodies : undefined;
}

function readBody(entry: unknown, resolve: (slug: string) => string | undefined): RequestBody | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { model, messages } = entry;
  const slug = typeof model === 'string' ? resolve(model) : undefined;
  if (slug === undefined || !Array.isArray(messages) || messages.length === 0) return undefined;
  const read = messages.map((message: unknown) => {
    if (!isJsonObject(message)) return undefined;
    const { role, content } = message;
    return typeof role === 'string' && ROLES.has(role) && typeof content === 'string' && content !== ''
      ? { role, content }
      : undefined;
  });
  return read.every((message) => message !== undefined) ? { model: slug, messages: read } : undefined;
}

interface Mention {
  readonly slug: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Bodies by rules alone: one for each model that the text names, with the rest of the text as prompt.
 * @param usual models for a text that names none
 */
export function writeBodies(
  text: string,
  models: readonly NamedModel[],
  usual: readonly string[],
  resolve: (slug: string) => string | undefined,
): readonly RequestBody[] {
  const lastUserText = text.slice(0, USER_TEXT_CHARS_MAX);
  const mentions = findMentions(lastUserText, models, resolve);
  const slugs = mentions.length > 0 ? [...new Set(mentions.map(({ slug }) => slug))] : usual;
  const content = promptOf(text, lastUserText, mentions).slice(0, CONTENT_CHARS_MAX);
  return slugs.slice(0, BODIES_MAX).map((model) => ({ model, messages: [{ role: 'user', content }] }));
}

const SLUGS = /~?[a-z0-9][\w.-]*\/[a-z0-9][\w.:-]*/gi;

/** Names in the order in which they stand; a longer name counts before a shorter one inside of it. */
function findMentions(
  text: string,
  models: readonly NamedModel[],
  resolve: (slug: string) => string | undefined,
): readonly Mention[] {
  const found: Mention[] = [];
  const add = (slug: string, from: number, to: number): void => {
    if (found.every((other) => to <= other.from || from >= other.to)) found.push({ slug, from, to });
  };
  for (const match of text.matchAll(SLUGS)) {
    const written = match[0].replace(/[.:]+$/, '');
    const slug = resolve(written.toLowerCase());
    if (slug !== undefined) add(slug, match.index, match.index + written.length);
  }
  const plain = text.toLowerCase().replace(/[-_]/g, ' ');
  for (const [name, slug] of namesOf(models)) {
    for (let at = plain.indexOf(name); at >= 0; at = plain.indexOf(name, at + 1))
      if (!isWord(plain[at - 1]) && !isWord(plain[at + name.length])) add(slug, at, at + name.length);
  }
  return found.toSorted((left, right) => left.from - right.from);
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}]/u.test(char);
}

const NAME_CHARS_MIN = 4;

/** First words of models that people use for something else, too. */
const ORDINARY_WORDS: ReadonlySet<string> = new Set(
  'command nova sonar solar mercury hermes trinity morph auto mini router text code chat ernie'.split(' '),
);

/**
 * Every name that people use, the longest first: `Claude Opus 5`, `anthropic claude opus 5`, of a family (`claude opus`) its
 * newest, and of a line (`claude`) the newest of all.
 */
function namesOf(models: readonly NamedModel[]): readonly (readonly [string, string])[] {
  const names = new Map<string, string>();
  const add = (name: string, slug: string): void => {
    const plain = name.toLowerCase().replace(/[-_]/g, ' ').trim();
    if (plain.length >= NAME_CHARS_MIN && !names.has(plain)) names.set(plain, slug);
  };
  for (const { slug, name } of models) {
    add(slug.slice(slug.indexOf('/') + 1), slug);
    add(slug.replace('/', ' '), slug);
    add(name.slice(name.indexOf(':') + 1), slug);
  }
  // In a family the newest stands first.
  for (const { slug, family } of models) if (family !== undefined) add(family, slug);
  for (const { slug } of models.toSorted((left, right) => (right.released ?? '').localeCompare(left.released ?? ''))) {
    const [line = ''] = slug.slice(slug.indexOf('/') + 1).split(/[-_.:]/);
    if (!ORDINARY_WORDS.has(line) && !/\d/.test(line)) add(line, slug);
  }
  return [...names].toSorted(([left], [right]) => right.length - left.length);
}

const QUOTED = /["“”«»](?<words>[^"“”«»]{8,})["“”«»]/;
const ASKING =
  /^\s*(?:please\s+)?(?:can you\s+)?(?:ask|have|let|get|use|query|prompt|tell|send(?: this)? to|run(?: this)?(?: on| with)?|try)\s+(?:,|\band\b|\bor\b|\bwith\b|\bthe\b|\bmodels?\b|\s)*(?:\bto\b|:|,)?\s*/i;
const LEADING = /^(?:[\s,:&]|\b(?:and|or)\b)+/i;
const LAST_WORD = /\b(?:using|with|on|via|by|from|in|and|or|both|the|models?)$/i;
/** More than the longest of these words. */
const LAST_WORD_CHARS = 8;

/** The prompt for the models: the text in quotes, otherwise the text without the names and the words before them. */
function promptOf(text: string, lastUserText: string, mentions: readonly Mention[]): string {
  if (mentions.length === 0) return text.trim();
  const quoted = QUOTED.exec(lastUserText)?.groups?.['words'];
  if (quoted !== undefined) return quoted.trim();
  let rest = '';
  let at = 0;
  for (const { from, to } of mentions) {
    rest += lastUserText.slice(at, from);
    at = to;
  }
  rest += text.slice(at);
  const prompt = withoutTrail(rest.replace(ASKING, '').replace(LEADING, '')).replace(/\s+/g, ' ').trim();
  return prompt === '' ? text.trim() : prompt;
}

/** Without the words and marks at its end that led to a name. Word by word: one pattern for all of them would never end. */
function withoutTrail(text: string): string {
  const whole = text.trimEnd();
  let end = /[.!]$/.test(whole.slice(-1)) ? whole.length - 1 : whole.length;
  const sentenceEnd = end;
  for (;;) {
    while (end > 0 && /[,&\s]/.test(whole[end - 1] ?? '')) end--;
    const word = LAST_WORD.exec(whole.slice(Math.max(0, end - LAST_WORD_CHARS), end));
    if (word === null) return end === sentenceEnd ? whole : whole.slice(0, end);
    end -= word[0].length;
  }
}
