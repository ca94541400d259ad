import { REASONING_FAMILIES, type ReasoningBlock, type ReasoningFamily } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { isContainer, type Containers } from '../containers.ts';
import { invalidPrompt, isAbsent, listOf, optionalText, requireText, type Warn } from './read-fields.ts';

/** A block of an earlier response, and whether it belongs to the text before it. */
export interface ReadReasoning {
  readonly block: ReasoningBlock;
  readonly ofPrevious: boolean;
}

/** What opens reasoning for the caller's account. */
export type OpenReasoning = (text: string) => JsonObject | undefined;

export function reasoningOpener(containers: Containers, accountId: string | undefined): OpenReasoning {
  return (text) => (accountId === undefined ? undefined : containers.open('reasoning', accountId, text));
}

/**
 * The blocks that a reasoning item was made of. A container counts before all that stands beside it; one that stays closed
 * leaves the readable parts. @throws GatewayError 400 for an item that is none
 */
export function readReasoning(
  item: JsonObject,
  path: string,
  open: OpenReasoning,
  warn: Warn,
): readonly ReadReasoning[] {
  const encrypted = optionalText(item, 'encrypted_content', path);
  const readable = readParts(item, path);
  if (encrypted === undefined || encrypted === '') return own(signLast(readable, item));
  if (!isContainer('reasoning', encrypted)) return own(readNative(item, encrypted, readable));
  const content = open(encrypted);
  if (content !== undefined) return readContainer(content);
  warn('content-dropped', `${path}.encrypted_content`, 'reasoning_unreadable: only its readable text is used');
  return own(signLast(readable.some(isSummary) ? readable.filter(isSummary) : readable, item));
}

function own(blocks: readonly ReasoningBlock[]): readonly ReadReasoning[] {
  return blocks.map((block) => ({ block, ofPrevious: false }));
}

function isSummary({ form }: ReasoningBlock): boolean {
  return form === 'summary';
}

/** The summary first: with the raw text beside it, each goes where it is taken. */
function readParts(item: JsonObject, path: string): readonly ReasoningBlock[] {
  const summary = listOf(item, 'summary', path).map(({ value, path: at }) => readPart('summary', value, at));
  const { content } = item;
  if (typeof content === 'string') return [...summary, { type: 'reasoning', form: 'text', text: content }];
  const texts = listOf(item, 'content', path).map(({ value, path: at }) => readPart('text', value, at));
  return [...summary, ...texts].filter(({ text }) => text !== '');
}

function readPart(form: 'summary' | 'text', part: JsonObject, path: string): ReasoningBlock {
  return { type: 'reasoning', form, text: requireText(part, 'text', path) };
}

/** Encrypted by a vendor, with the id that it was encrypted under. */
function readNative(
  item: JsonObject,
  encrypted: string,
  readable: readonly ReasoningBlock[],
): readonly ReasoningBlock[] {
  const id = textOf(item['id']);
  // Clients keep the item and forget which vendor made it. Without any family it would be taken for another format's own.
  const family = familyOf(item['format']) ?? 'unknown';
  const origin = { ...(id !== undefined && id !== '' && { id }), family };
  const data: ReasoningBlock = { type: 'reasoning', form: 'encrypted', text: encrypted };
  return [...readable, data].map((block) => ({ ...block, ...origin }));
}

/** A signature that stands open beside the text is the vendor's to verify. */
function signLast(readable: readonly ReasoningBlock[], item: JsonObject): readonly ReasoningBlock[] {
  const signature = textOf(item['signature']);
  const family = familyOf(item['format']);
  if (isAbsent(signature) || signature === '' || family === undefined) return readable;
  const last = readable.length - 1;
  return readable.map((block, at) => ({
    ...block,
    form: 'text',
    family,
    ...(at === last && { signature }),
  }));
}

function familyOf(value: unknown): ReasoningFamily | undefined {
  return REASONING_FAMILIES.find((family) => family === value);
}

function readContainer({ blocks, family: sealed }: JsonObject): readonly ReadReasoning[] {
  const family = familyOf(sealed);
  return objectsOf(blocks).flatMap((entry): readonly ReadReasoning[] => {
    const { form, text, signature, carrier, id, callId, of } = entry;
    if (form !== 'text' && form !== 'summary' && form !== 'encrypted') return [];
    const named = textOf(id) ?? textOf(callId);
    const block: ReasoningBlock = {
      type: 'reasoning',
      form,
      text: textOf(text) ?? '',
      ...(typeof signature === 'string' && { signature }),
      ...(family !== undefined && { family }),
      ...(named !== undefined && { id: named }),
      ...(typeof carrier === 'string' && { carrier }),
    };
    return [{ block, ofPrevious: of === 'previous' }];
  });
}

/** The summary that stands for an earlier conversation. @throws GatewayError 400 where it does not open */
export function openSummary(
  encrypted: string,
  path: string,
  containers: Containers,
  accountId: string | undefined,
): string {
  const content = accountId === undefined ? undefined : containers.open('compaction', accountId, encrypted);
  const summary = textOf(content?.['summary']);
  if (summary === undefined)
    throw invalidPrompt(
      `${path}.encrypted_content`,
      'does not open here: it was changed, made for another account, or is too large',
    );
  return summary;
}
