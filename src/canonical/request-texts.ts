import { unreachable } from '../lib/assert.ts';
import { ExactNumber, isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { Block, Citation, MediaSource, ReasoningBlock } from './blocks.ts';
import type { Extra } from './extra.ts';
import type { GenerationRequest, Turn } from './request.ts';

/** Where a text stands. */
export interface TextPlace {
  /** `json`: JSON text, which must stay JSON. */
  readonly form: 'plain' | 'json';
  /** In a user's turn, and no tool said it. */
  readonly byUser: boolean;
  /** Its author takes it back only as it was: what is changed there is for records, and goes to nobody. */
  readonly isSealed?: true;
}

/** @returns what is to stand there */
export type ChangeText = (text: string, place: TextPlace) => string;

/**
 * The request with other texts, each asked for once, in order; the same object when none changed. Texts are what a model
 * reads as said in the conversation: messages, names of speakers, documents in plain text, arguments and results of tools,
 * a predicted answer, and what members that only one format knows hold. Not among them: tools and schemas, media, addresses,
 * and what is encrypted.
 * @param skips turns that stay as they are
 */
export function changeRequestTexts(
  request: GenerationRequest,
  change: ChangeText,
  skips: (turn: Turn) => boolean = () => false,
): GenerationRequest {
  const turns = changeEach(request.turns, (turn) => (skips(turn) ? turn : changeTurn(turn, change)));
  const extra = changeExtra(request.extra, change, false);
  const prediction = request.settings.prediction && changeObject(request.settings.prediction, change, false);
  if (turns === request.turns && extra === request.extra && prediction === request.settings.prediction) return request;
  return {
    ...request,
    turns,
    ...(extra !== undefined && { extra }),
    ...(prediction !== undefined && { settings: { ...request.settings, prediction } }),
  };
}

function changeTurn(turn: Turn, change: ChangeText): Turn {
  const byUser = turn.role === 'user';
  // Formats without a place for it say it in front of the words.
  const name = turn.name === undefined ? undefined : change(turn.name, { form: 'plain', byUser });
  const blocks = changeEach(turn.blocks, (block) => changeBlock(block, change, byUser));
  const extra = changeExtra(turn.extra, change, byUser);
  return blocks === turn.blocks && extra === turn.extra && name === turn.name
    ? turn
    : { ...turn, blocks, ...(name !== undefined && { name }), ...(extra !== undefined && { extra }) };
}

function changeBlock(block: Block, change: ChangeText, byUser: boolean): Block {
  const changed = changeContent(block, change, byUser);
  const extra = changeExtra(block.extra, change, byUser);
  return extra === undefined || extra === block.extra ? changed : { ...changed, extra };
}

function changeContent(block: Block, change: ChangeText, byUser: boolean): Block {
  switch (block.type) {
    case 'text':
      return changeText(block, change, byUser);
    case 'refusal': {
      const text = change(block.text, { form: 'plain', byUser });
      return text === block.text ? block : { ...block, text };
    }
    case 'reasoning':
      return changeReasoning(block, change, byUser);
    case 'tool-call': {
      const input = change(block.input, { form: 'json', byUser: false });
      return input === block.input ? block : { ...block, input };
    }
    case 'tool-result': {
      const content = changeEach(block.content, (inner) => changeBlock(inner, change, false));
      return content === block.content ? block : { ...block, content };
    }
    case 'media':
      return changeMedia(block, change, byUser);
    case 'opaque': {
      const value = changeObject(block.value, change, byUser);
      const words = block.words === undefined ? undefined : change(block.words, { form: 'plain', byUser });
      if (value === block.value && words === block.words) return block;
      return { ...block, value, ...(words !== undefined && { words }) };
    }
    default:
      return unreachable(block);
  }
}

/** Nobody here can tell whether a signature is true, or whether something was encrypted: words are words. */
function changeReasoning(block: ReasoningBlock, change: ChangeText, byUser: boolean): ReasoningBlock {
  const { signature, ...others } = block;
  const isSealed = block.form === 'encrypted' || signature !== undefined;
  const place: TextPlace = { form: 'plain', byUser, ...(isSealed && { isSealed }) };
  const changeWritten = (text: string): string => (NO_BYTES.test(text) ? change(text, place) : text);
  const text = block.form === 'encrypted' ? changeWritten(block.text) : change(block.text, place);
  const isSame = text === block.text && (signature === undefined || changeWritten(signature) === signature);
  // A signature is of the words as they were.
  return isSame ? block : { ...others, text };
}

function changeText(
  block: Extract<Block, { type: 'text' }>,
  change: ChangeText,
  byUser: boolean,
): Extract<Block, { type: 'text' }> {
  const text = change(block.text, { form: 'plain', byUser });
  const citations =
    block.citations && changeEach(block.citations, (citation) => changeCitation(citation, change, byUser));
  if (text === block.text)
    return citations === block.citations || citations === undefined ? block : { ...block, citations };
  // They tell where in the text that was.
  const { citations: _citations, ...others } = block;
  return { ...others, text };
}

function changeCitation(citation: Citation, change: ChangeText, byUser: boolean): Citation {
  if (citation.type === 'opaque') {
    const value = changeObject(citation.value, change, byUser);
    return value === citation.value ? citation : { ...citation, value };
  }
  const { title, excerpt } = citation;
  const other = changeWords(
    { ...(title !== undefined && { title }), ...(excerpt !== undefined && { excerpt }) },
    change,
    byUser,
  );
  return other === undefined ? citation : { ...citation, ...other };
}

function changeMedia(
  block: Extract<Block, { type: 'media' }>,
  change: ChangeText,
  byUser: boolean,
): Extract<Block, { type: 'media' }> {
  const source = changeSource(block.source, change, byUser);
  const { name, context, transcript } = block;
  const words = {
    ...(name !== undefined && { name }),
    ...(context !== undefined && { context }),
    ...(transcript !== undefined && { transcript }),
  };
  const other = changeWords(words, change, byUser);
  return source === block.source && other === undefined ? block : { ...block, source, ...other };
}

function changeSource(source: MediaSource, change: ChangeText, byUser: boolean): MediaSource {
  if (source.type === 'text') {
    const text = change(source.text, { form: 'plain', byUser });
    return text === source.text ? source : { ...source, text };
  }
  if (source.type === 'blocks') {
    const blocks = changeEach(source.blocks, (block) => changeBlock(block, change, byUser));
    return blocks === source.blocks ? source : { ...source, blocks };
  }
  return source;
}

/** `undefined`: they stay. */
function changeWords<Words extends Readonly<Record<string, string>>>(
  words: Words,
  change: ChangeText,
  byUser: boolean,
): Words | undefined {
  const changed = Object.entries(words).map(([name, text]) => [name, change(text, { form: 'plain', byUser })] as const);
  return changed.every(([name, text]) => words[name] === text)
    ? undefined
    : { ...words, ...Object.fromEntries(changed) };
}

function changeExtra(extra: Extra | undefined, change: ChangeText, byUser: boolean): Extra | undefined {
  if (extra === undefined) return undefined;
  const fields = changeObject(extra.fields, change, byUser);
  return fields === extra.fields ? extra : { ...extra, fields };
}

/** Members that hold no words: what programs tell apart. */
const WORDLESS = /^(?:type|role|id|.*_id|media_type|mime_?type|url|.*_url|format|model)$/i;
/** Members that hold bytes in the form of text, unless it is plain text that somebody put there: results of tools ride so. */
const BYTES = /^(?:data|.*_data|signature|encrypted_.*)$/i;
/** What no base64 has, in lines or in one. */
const NO_BYTES = /[^\w+/=\r\n-]/;

function hasWords(name: string, member: Json): boolean {
  if (WORDLESS.test(name)) return false;
  if (!BYTES.test(name) || typeof member !== 'string') return true;
  return NO_BYTES.test(member.startsWith('data:') ? member.slice(member.indexOf(',') + 1) : member);
}

function changeObject(value: JsonObject, change: ChangeText, byUser: boolean): JsonObject {
  const entries = Object.entries(value);
  const changed = entries.map(([name, member]): [string, Json | undefined] => [
    name,
    member !== undefined && hasWords(name, member) ? changeJson(member, change, byUser) : member,
  ]);
  return changed.every(([, member], index) => member === entries[index]?.[1]) ? value : Object.fromEntries(changed);
}

function changeJson(value: Json, change: ChangeText, byUser: boolean): Json {
  if (typeof value === 'string') return change(value, { form: 'plain', byUser });
  if (Array.isArray(value)) return changeEach(value as readonly Json[], (item) => changeJson(item, change, byUser));
  return isJsonObject(value) && !(value instanceof ExactNumber) ? changeObject(value, change, byUser) : value;
}

/** The same array when nothing changed. */
function changeEach<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
