import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { TASK_TAGS } from '../../src/model-selection/classify/task-tags.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import { parseJson } from '../../src/lib/json.ts';
import { pluginsSchema } from '../../src/plugins/index.ts';
import { createChatClientFormat } from '../../src/wire/chat/format.ts';

export const PARTS = ['tuning', 'test'] as const;
export type Part = (typeof PARTS)[number];

const itemShape = z.strictObject({
  id: z.string().regex(/^q\d{3}$/),
  tag: z.enum(TASK_TAGS),
  /** What the same prompt was labelled the second time. */
  second: z.enum(TASK_TAGS).nullable(),
  lang: z.string().regex(/^[a-z]{2}$/),
  /** The body of a chat request, as a caller sends it. */
  request: z.looseObject({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) }),
});

export type Item = z.output<typeof itemShape>;

const FOLDER = new URL('../../eval/router/', import.meta.url);

/** @throws Error a line that is no item, with its number */
export function readItems(part: Part): readonly Item[] {
  const lines = readFileSync(new URL(`${part}.jsonl`, FOLDER), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line, index) => {
    const checked = itemShape.safeParse(JSON.parse(line));
    if (!checked.success) throw new Error(`${part}.jsonl:${index + 1}: ${z.prettifyError(checked.error)}`);
    return checked.data;
  });
}

const chat = createChatClientFormat({ plugin: pluginsSchema.element });

/** The item as the gateway sees it. @throws GatewayError 400 when it is no chat request */
export function decodeItem({ request }: Item): GenerationRequest {
  const text = JSON.stringify(request);
  return chat.decodeRequest(parseJson(text) ?? null, text, { serviceMetadata: false, betas: [] });
}

/** All texts of users and tools, in order. */
export function textOf({ request }: Pick<Item, 'request'>): string {
  return request.messages.map(({ content }) => contentText(content)).join('\n');
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: string }) => part.text ?? '').join('\n');
}

/**
 * Where each item belongs, by nothing but its id and its tag: of the items of a tag, in the order of the SHA-256 of
 * their ids, the first half is for tuning, the middle one included.
 */
export function splitByHash(items: readonly Pick<Item, 'id' | 'tag'>[]): ReadonlyMap<string, Part> {
  const found = new Map<string, Part>();
  for (const ofTag of Map.groupBy(items, ({ tag }) => tag).values()) {
    const sorted = ofTag
      .map(({ id }) => ({ id, hash: sha256(id) }))
      .toSorted((left, right) => (left.hash < right.hash ? -1 : 1));
    for (const [index, { id }] of sorted.entries())
      found.set(id, index < Math.ceil(sorted.length / 2) ? 'tuning' : 'test');
  }
  return found;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Characters in a row that two texts are compared by: short enough for languages without spaces. */
const GRAM = 5;

/** Pairs of items whose callers wrote nearly the same. @param overlapMin shared pieces of text among all of the two, 0 to 1 */
export function nearDuplicates(items: readonly Item[], overlapMin: number): readonly (readonly [string, string])[] {
  const known = items.map((item) => ({ id: item.id, grams: gramsOf(userText(item)) }));
  return known.flatMap((left, at) =>
    known
      .slice(at + 1)
      .flatMap((right) => (overlap(left.grams, right.grams) >= overlapMin ? [[left.id, right.id] as const] : [])),
  );
}

function userText({ request }: Item): string {
  return request.messages
    .filter(({ role }) => role === 'user')
    .map(({ content }) => contentText(content))
    .join('\n');
}

function gramsOf(text: string): ReadonlySet<string> {
  const plain = text.toLowerCase().replaceAll(/\s+/g, ' ');
  if (plain.length <= GRAM) return new Set([plain]);
  return new Set(Array.from({ length: plain.length - GRAM + 1 }, (_, at) => plain.slice(at, at + GRAM)));
}

/** Shared ones of all: 1 where both are the same, 0 where nothing is. */
function overlap(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = left.intersection(right).size;
  return shared / (left.size + right.size - shared);
}
