import { unreachable } from '../../lib/assert.ts';
import { ExactNumber, isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';
import type { Block, Citation, MediaSource, ReasoningBlock } from '../../canonical/blocks.ts';
import type { Extra } from '../../canonical/extra.ts';
import type { GenerationRequest, ResponseFormat, Settings, Turn } from '../../canonical/request.ts';
import { isTextType } from '../../canonical/text-type.ts';

/** Where a text stands. */
export interface TextPlace {
  /** `json`: JSON text, which must stay JSON. */
  readonly form: 'plain' | 'json';
  /** In a user's turn, and no tool said it. */
  readonly byUser: boolean;
  /** Its vendor accepts it only unchanged: a changed text is for records and is not sent. */
  readonly isSealed?: true;
}

/** @returns what is to stand there */
export type ChangeText = (text: string, place: TextPlace) => string;

/**
 * Returns the request with changed texts. Each text is passed to `change` once, in order; when none changes, the result is
 * the same object. Texts are what a model reads as part of the conversation: messages, names of speakers, documents in
 * plain text, arguments and results of tools, a predicted response, stop sequences, ids of calls, the response format, and
 * the names and values of fields that only one format knows. Tools and their schemas, media other than text, addresses
 * and encrypted data are not texts.
 * @param skips turns that stay as they are
 */
export function changeRequestTexts(
  request: GenerationRequest,
  change: ChangeText,
  skips: (turn: Turn) => boolean = () => false,
): GenerationRequest {
  const turns = changeEach(request.turns, (turn) => (skips(turn) ? turn : changeTurn(turn, change)));
  const extra = changeExtra(request.extra, change, false);
  const settings = changeSettings(request.settings, change);
  if (turns === request.turns && extra === request.extra && settings === request.settings) return request;
  return { ...request, turns, settings, ...(extra !== undefined && { extra }) };
}

/** For what programs read: a filter may find something there, and must not put something else in its place. */
function sealed(byUser: boolean): TextPlace {
  return { form: 'plain', byUser, isSealed: true };
}

/** Settings that hold words of the caller's choice. */
const WORDED_OBJECTS = ['audio', 'imageConfig', 'webSearchOptions', 'promptCacheOptions'] as const;

function changeSettings(settings: Settings, change: ChangeText): Settings {
  const changed: { -readonly [Name in keyof Settings]?: Settings[Name] } = {};
  const { stop, prediction, responseFormat, promptCacheKey } = settings;
  if (prediction !== undefined) changed.prediction = changeObject(prediction, change, false);
  if (stop !== undefined) changed.stop = changeEach(stop, (text) => change(text, sealed(true)));
  if (responseFormat !== undefined) changed.responseFormat = changeResponseFormat(responseFormat, change);
  if (promptCacheKey !== undefined) changed.promptCacheKey = change(promptCacheKey, sealed(true));
  for (const name of WORDED_OBJECTS) {
    const value = settings[name];
    if (value !== undefined) Object.assign(changed, { [name]: changeSealedJson(value, change) });
  }
  const isSame = Object.entries(changed).every(([name, value]) => Reflect.get(settings, name) === value);
  return isSame ? settings : { ...settings, ...changed };
}

function changeResponseFormat(format: ResponseFormat, change: ChangeText): ResponseFormat {
  if (format.type === 'grammar') {
    const grammar = change(format.grammar, sealed(true));
    return grammar === format.grammar ? format : { ...format, grammar };
  }
  if (format.type !== 'json_schema') return format;
  const { name, description, schema, extra } = format;
  const changed = {
    ...(name !== undefined && { name: change(name, sealed(true)) }),
    ...(description !== undefined && { description: change(description, sealed(true)) }),
    ...(schema !== undefined && { schema: changeSealedJson(schema, change) }),
    ...(extra !== undefined && { extra: changeExtra(extra, change, true) ?? extra }),
  };
  const isSame = Object.entries(changed).every(([member, value]) => Reflect.get(format, member) === value);
  return isSame ? format : { ...format, ...changed };
}

/** All of it at once: its names and its values. */
function changeSealedJson(value: JsonObject, change: ChangeText): JsonObject {
  const text = JSON.stringify(value);
  const changed = change(text, { form: 'json', byUser: true, isSealed: true });
  return changed === text ? value : (parseJsonObject(changed) ?? {});
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
      const id = change(block.id, sealed(byUser));
      const input = change(block.input, { form: 'json', byUser: false });
      return input === block.input && id === block.id ? block : { ...block, id, input };
    }
    case 'tool-result': {
      const callId = change(block.callId, sealed(byUser));
      const content = changeEach(block.content, (inner) => changeBlock(inner, change, false));
      return content === block.content && callId === block.callId ? block : { ...block, callId, content };
    }
    case 'media':
      return changeMedia(block, change, byUser);
    case 'opaque': {
      const value = changeObject(block.value, change, byUser);
      const words = block.plainText === undefined ? undefined : change(block.plainText, { form: 'plain', byUser });
      if (value === block.value && words === block.plainText) return block;
      return { ...block, value, ...(words !== undefined && { plainText: words }) };
    }
    default:
      return unreachable(block);
  }
}

/** The gateway cannot check a signature, or whether a text was encrypted: it treats all of them as text. */
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
  const other = changeTextFields(
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
  const other = changeTextFields(words, change, byUser);
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
  if (source.type === 'url') {
    const url = changeDataUrl(source.url, change, byUser);
    return url === source.url ? source : { ...source, url };
  }
  if (source.type !== 'base64' || !isTextType(source.mediaType)) return source;
  const text = Buffer.from(source.data, 'base64').toString('utf8');
  const changed = change(text, { form: 'plain', byUser });
  return changed === text ? source : { ...source, data: Buffer.from(changed, 'utf8').toString('base64') };
}

/** Of an address that holds its text itself; others stay. */
function changeDataUrl(url: string, change: ChangeText, byUser: boolean): string {
  const head = dataUrlHead(url);
  if (head === undefined || !isTextType(head.mediaType)) return url;
  const text = decodeData(url.slice(head.length), head.isBase64);
  const changed = change(text, sealed(byUser));
  return changed === text ? url : `data:text/plain,${encodeURIComponent(changed)}`;
}

function decodeData(data: string, isBase64: boolean): string {
  if (isBase64) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    // Half an escape: it is searched as it stands.
    return data;
  }
}

/** `undefined`: they stay. */
function changeTextFields<Words extends Readonly<Record<string, string>>>(
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

/** Members that hold identifiers, not text. */
const NO_TEXT = /^(?:type|role|id|.*_id|media_type|mime_?type|url|.*_url|format|model)$/i;
/** Of those, the ones whose value is of the caller's choice. */
const ID = /^(?:id|.*_id|model)$/i;
/** Members that hold bytes as text. Some hold plain text all the same, as results of tools do. */
const BYTES = /^(?:data|.*_data|signature|encrypted_.*)$/i;
/** What no base64 has, in lines or in one. */
const NO_BYTES = /[^\w+/=\r\n-]/;

function hasWords(name: string, member: Json): boolean {
  if (NO_TEXT.test(name)) return false;
  if (!BYTES.test(name) || typeof member !== 'string') return true;
  return NO_BYTES.test(member.startsWith('data:') ? member.slice(member.indexOf(',') + 1) : member);
}

function changeObject(value: JsonObject, change: ChangeText, byUser: boolean): JsonObject {
  const entries = Object.entries(value);
  const changed = entries.map(([name, member]): [string, Json | undefined] => [
    change(name, sealed(byUser)),
    member === undefined ? undefined : changeMember(name, member, change, byUser),
  ]);
  const isSame = changed.every(([name, member], at) => name === entries[at]?.[0] && member === entries[at][1]);
  return isSame ? value : Object.fromEntries(changed);
}

function changeMember(name: string, member: Json, change: ChangeText, byUser: boolean): Json {
  if (hasWords(name, member)) return changeJson(member, change, byUser);
  if (typeof member !== 'string') return member;
  if (member.startsWith('data:')) return changeDataUrl(member, change, byUser);
  return ID.test(name) ? change(member, sealed(byUser)) : member;
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
