import { transportFailure } from '../../../canonical/failure/classify-failure.ts';
import type { Block, MediaBlock } from '../../../canonical/blocks.ts';
import type { EventBatch, WarningEvent } from '../../../canonical/events.ts';
import type { Extra } from '../../../canonical/extra.ts';
import type { UpstreamFailure } from '../../../canonical/failure/failure.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { ResponseBlocks, textPiece } from '../../response-blocks.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { ToolCalls, argumentsIn, madeId, writeWhole } from './tool-calls.ts';
import { TextPositions } from './text-positions.ts';
import { AudioPieces } from './audio-pieces.ts';
import { GEMINI_FAMILY, isSignature, signatureBlock } from '../call-signatures.ts';
import { errorIn, failureOfError } from './error.ts';
import type { TextChunk } from './plain-chunk.ts';
import { decodeFinishReason } from './finish-reason.ts';
import { countSearches, groundingCitations, quotedCitations } from './citations.ts';
import { chatLogprobs } from './logprobs.ts';
import { codeCall, codeResult, toolCall, toolResult } from './server-tools.ts';
import { itemSources, sourceOf } from './json-source.ts';
import { countsTokens, decodeUsage, mergeUsage } from './usage.ts';

const WARNINGS_MAX = 20;
/** Signatures that wait for the end of the text that they came with. */
const WAITING_MAX = 100;

interface Finish {
  readonly word: string;
  readonly isBlocked: boolean;
}

/** Turns the chunks of one response into events. A whole response is one chunk. */
export class ResponseDecoder {
  readonly #blocks = new ResponseBlocks();
  readonly #calls = new ToolCalls(this.#blocks);
  readonly #text = new TextPositions();
  #started = false;
  #over = false;
  /** Warnings from before the start, which comes first. */
  #early: WarningEvent[] = [];
  #warnings = 0;
  /** The block before: texts with something between them have a gap in one format. */
  #previous: Block | undefined;
  #openText: number | undefined;
  #openAudio: { readonly index: number; readonly mediaType: string; readonly pieces: AudioPieces } | undefined;
  #waitingSignatures: string[] = [];
  #lastServerCall: string | undefined;
  #usage: JsonObject | undefined;
  #hasNewUsage = false;
  /** Something beside thoughts has come. */
  #hasOutput = false;
  #finish: Finish | undefined;
  #explanation: string | undefined;
  #grounding: JsonObject | undefined;
  #quoted: JsonObject | undefined;

  /** Nothing more is read after an end or a failure. */
  get over(): boolean {
    return this.#over;
  }

  /** Both the reason to stop and the counts have come. */
  get isComplete(): boolean {
    return this.#finish !== undefined && this.#usage !== undefined && countsTokens(this.#usage);
  }

  take(): EventBatch {
    // Every chunk counts anew: once a read is enough.
    if (this.#hasNewUsage) this.#emitUsage();
    return this.#blocks.take();
  }

  /** @param text the chunk's own JSON text, from which the arguments of calls are taken as they stand */
  takeChunk(chunk: JsonObject, text: string): void {
    if (this.#over) return;
    const error = errorIn(chunk);
    if (error !== undefined) {
      this.fail(failureOfError(error));
      return;
    }
    this.#start(chunk);
    this.#noteBlocked(objectOf(chunk['promptFeedback']));
    const candidates: Json | undefined = chunk['candidates'];
    // A gateway asks for one candidate only.
    const at = Array.isArray(candidates) ? candidates.findIndex(isFirstCandidate) : -1;
    const candidate = Array.isArray(candidates) ? candidates[at] : undefined;
    if (isJsonObject(candidate)) this.#takeCandidate(candidate, ['candidates', at], text);
    const usage = chunk['usageMetadata'];
    if (isJsonObject(usage)) this.#takeUsage(usage);
  }

  /** A chunk of which all the rest has been taken before. */
  takeTextChunk({ text, usage }: TextChunk): void {
    this.#calls.end();
    this.#takeText(text, undefined, undefined);
    if (usage !== undefined) this.#takeUsage(usage);
  }

  /** Notes what could not be read and was left out. */
  skip(what: string): void {
    this.#warnings += 1;
    if (this.#warnings > WARNINGS_MAX) return;
    const warning = { code: 'event-skipped', path: 'stream', message: `left out: ${what}` } as const;
    const event: WarningEvent = { type: 'warning', warning };
    if (this.#started) this.#blocks.emit(event);
    else this.#early.push(event);
  }

  fail(failure: UpstreamFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#emitUsage();
    this.#blocks.emit({ type: 'failed', failure });
  }

  /**
   * Nothing more comes. A stream without a finish reason broke off: an end that the upstream did not give is never
   * invented (@spec stream-11). @param complete the whole response is here, so that a missing reason does not mean that it broke off
   */
  finish(complete: boolean): void {
    if (this.#over) return;
    if (this.#finish === undefined && !(complete && this.#started)) {
      this.fail(transportFailure('early-end'));
      return;
    }
    this.#calls.end();
    this.#cite();
    this.#endOpen();
    const { word, isBlocked = false } = this.#finish ?? {};
    const finish = isBlocked ? 'content_filter' : decodeFinishReason(word, this.#calls.any);
    if (finish === 'content_filter' && this.#explanation !== undefined)
      this.#write({ type: 'refusal', text: this.#explanation });
    this.#over = true;
    this.#emitUsage();
    this.#blocks.emit({ type: 'end', finish, ...(word !== undefined && { nativeFinish: word }) });
  }

  #start(chunk: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    const { responseId: id, modelVersion: model } = chunk;
    this.#blocks.emit({
      type: 'start',
      format: 'gemini',
      ...(typeof id === 'string' && id !== '' && { id }),
      ...(typeof model === 'string' && model !== '' && { model }),
    });
    for (const warning of this.#early) this.#blocks.emit(warning);
    this.#early = [];
  }

  /** A prompt that was refused has no candidates. @spec translate-25 */
  #noteBlocked(feedback: JsonObject | undefined): void {
    const word = textOf(feedback?.['blockReason']);
    if (word === undefined || word === '') return;
    this.#finish = { word, isBlocked: true };
    this.#explain(feedback?.['blockReasonMessage']);
  }

  #explain(message: Json | undefined): void {
    if (typeof message === 'string' && message !== '') this.#explanation = message;
  }

  #takeCandidate(candidate: JsonObject, path: readonly (string | number)[], text: string): void {
    const { content, finishReason: word, groundingMetadata, citationMetadata } = candidate;
    const logprobs = chatLogprobs(candidate['logprobsResult']);
    const parts: Json | undefined = objectOf(content)?.['parts'];
    let sources: readonly string[] | undefined;
    const sourceOfPart = (at: number): string | undefined => {
      sources ??= itemSources(sourceOf(text, [...path, 'content', 'parts']) ?? '');
      return sources[at];
    };
    this.#takeParts(Array.isArray(parts) ? parts : [], logprobs, sourceOfPart);
    // Streams repeat it empty before it is there.
    if (isJsonObject(groundingMetadata) && Object.keys(groundingMetadata).length > 0)
      this.#grounding = groundingMetadata;
    if (isJsonObject(citationMetadata)) this.#quoted = citationMetadata;
    this.#explain(candidate['finishMessage']);
    if (typeof word === 'string' && word !== '') this.#finish = { word, isBlocked: false };
  }

  /** Log probabilities go onto the first text that they come with. */
  #takeParts(
    parts: readonly Json[],
    logprobs: Extra | undefined,
    sourceOfPart: (at: number) => string | undefined,
  ): void {
    let waiting = logprobs;
    for (const [at, part] of parts.entries()) {
      if (!isJsonObject(part)) continue;
      const isText = typeof part['text'] === 'string' && part['text'] !== '' && part['thought'] !== true;
      this.#takePart(part, () => argumentsIn(sourceOfPart(at)), isText ? waiting : undefined);
      if (isText) waiting = undefined;
    }
    if (waiting !== undefined) this.#blocks.emit({ type: 'extra', extra: waiting });
  }

  #takePart(part: JsonObject, decodeArguments: () => string, extra: Extra | undefined): void {
    const { text, functionCall, thoughtSignature: given } = part;
    const signature = typeof given === 'string' && isSignature(given) ? given : undefined;
    if (isJsonObject(functionCall)) {
      this.#takeCall(functionCall, signature, decodeArguments);
      return;
    }
    if (typeof text === 'string') {
      // An empty text ends no call that is still coming.
      if (text === '' && signature === undefined) return;
      this.#calls.end();
      if (part['thought'] === true) this.#takeThought(text, signature);
      else this.#takeText(text, signature, extra);
      return;
    }
    this.#calls.end();
    this.#takeOther(part, signature);
  }

  #takeCall(call: JsonObject, signature: string | undefined, decodeArguments: () => string): void {
    // `{}` alone ends a call, and means nothing without one.
    if (!this.#calls.isOpen && Object.keys(call).length === 0) return;
    if (!this.#calls.continues(call)) {
      this.#calls.end();
      this.#endOpen();
    }
    this.#hasOutput = true;
    const isPartial = call['partialArgs'] !== undefined || call['willContinue'] === true || this.#calls.isOpen;
    const hasArguments = call['args'] !== undefined && call['args'] !== null;
    const input = hasArguments || !isPartial ? decodeArguments() : undefined;
    const lost = this.#calls.take(call, signature, input);
    this.#previous = CALL_BEFORE;
    if (lost !== undefined) this.skip(lost);
  }

  #takeThought(text: string, signature: string | undefined): void {
    this.#endAudio();
    if (this.#openText !== undefined) this.#endOpen();
    const block: Block = { type: 'reasoning', form: 'text', text: '', family: GEMINI_FAMILY };
    this.#blocks.put({
      key: 'thought',
      block,
      ...(text !== '' && { text }),
      ...(signature !== undefined && { signature }),
      // Each signature belongs to the text that it came with.
      ...(signature !== undefined && { complete: true }),
    });
    this.#previous = block;
  }

  #takeText(text: string, signature: string | undefined, extra: Extra | undefined): void {
    this.#endAudio();
    if (this.#openText === undefined) {
      this.#endOpen();
      // On the first piece of a text it goes before it, and otherwise behind it: a text must not be torn apart.
      if (signature !== undefined) this.#write(signatureBlock(signature));
      if (text === '') return;
    } else if (signature !== undefined && this.#waitingSignatures.length < WAITING_MAX) {
      this.#waitingSignatures.push(signature);
    }
    if (text === '') return;
    this.#hasOutput = true;
    const piece = textPiece(text);
    this.#blocks.put(extra === undefined ? piece : { ...piece, extra });
    const open = this.#blocks.openText;
    if (this.#openText === undefined && open !== undefined) {
      this.#text.begin(open, this.#previous);
      this.#openText = open;
      this.#previous = piece.block;
    }
    this.#text.add(text);
  }

  #takeOther(part: JsonObject, signature: string | undefined): void {
    const { inlineData, fileData, executableCode, codeExecutionResult, toolCall: call, toolResponse } = part;
    this.#hasOutput = true;
    if (isJsonObject(inlineData)) {
      this.#takeFile(inlineData, signature, part['thought'] === true);
      return;
    }
    this.#endOpen();
    if (isJsonObject(fileData)) {
      const url = textOf(fileData['fileUri']) ?? '';
      if (url !== '')
        this.#writeSigned({ type: 'media', media: mediaOf(fileData), source: { type: 'url', url } }, signature);
    } else if (isJsonObject(executableCode)) {
      this.#lastServerCall = textOf(executableCode['id']) ?? madeId();
      this.#writeSigned(codeCall(executableCode, this.#lastServerCall), signature);
    } else if (isJsonObject(codeExecutionResult)) {
      this.#write(codeResult(codeExecutionResult, this.#lastServerCall ?? madeId()));
    } else if (isJsonObject(call)) {
      this.#writeSigned(toolCall(call, textOf(call['id']) ?? madeId()), signature);
    } else if (isJsonObject(toolResponse)) {
      this.#write(toolResult(part, toolResponse['response']));
    } else {
      this.skip(`a part of an unknown kind (${Object.keys(part).join(', ').slice(0, 80)})`);
    }
  }

  /** A file that was made. Drafts of a model that thinks in pictures are not part of its response. */
  #takeFile(inlineData: JsonObject, signature: string | undefined, isThought: boolean): void {
    const mediaType = textOf(inlineData['mimeType']) ?? '';
    const data = textOf(inlineData['data']) ?? '';
    if (isThought) {
      this.skip('a picture that the model thought in');
      return;
    }
    if (this.#openAudio?.mediaType !== mediaType) this.#endOpen();
    if (this.#openText !== undefined) this.#endOpen();
    const media = mediaOf(inlineData);
    if (media !== 'audio') {
      this.#writeSigned({ type: 'media', media, source: { type: 'base64', mediaType, data } }, signature);
      return;
    }
    if (this.#openAudio === undefined) {
      if (signature !== undefined) this.#write(signatureBlock(signature));
      const index = this.#blocks.open({ type: 'media', media, source: { type: 'base64', mediaType, data: '' } });
      this.#openAudio = { index, mediaType, pieces: new AudioPieces() };
    }
    const piece = this.#openAudio.pieces.add(data);
    if (piece !== '') this.#blocks.addDelta(this.#openAudio.index, piece, undefined);
  }

  #writeSigned(block: Block, signature: string | undefined): void {
    const callId = block.type === 'tool-call' ? block.id : undefined;
    if (signature !== undefined) this.#write(signatureBlock(signature, callId));
    this.#write(block);
  }

  #write(block: Block): void {
    writeWhole(this.#blocks, block);
    this.#previous = block;
  }

  /** Ends whatever is open but calls, and gives the signatures that waited for it. */
  #endOpen(): void {
    this.#endAudio();
    this.#blocks.endOpen();
    this.#openText = undefined;
    for (const signature of this.#waitingSignatures.splice(0)) this.#write(signatureBlock(signature));
  }

  #endAudio(): void {
    if (this.#openAudio === undefined) return;
    const { index, pieces } = this.#openAudio;
    this.#openAudio = undefined;
    const rest = pieces.end();
    if (rest !== '') this.#blocks.addDelta(index, rest, undefined);
    this.#blocks.end(index);
  }

  #takeUsage(usage: JsonObject): void {
    this.#usage = mergeUsage(this.#usage, usage);
    this.#hasNewUsage = true;
  }

  #emitUsage(): void {
    this.#hasNewUsage = false;
    if (this.#usage === undefined || !countsTokens(this.#usage)) return;
    const searches = this.#grounding === undefined ? undefined : countSearches(this.#grounding);
    this.#blocks.emit({ type: 'usage', usage: decodeUsage(this.#usage, searches, this.#hasOutput) });
  }

  /** Sources come with the last chunk, while the text that they belong to is still open. */
  #cite(): void {
    const isOpen = (block: number): boolean => block === this.#openText;
    const citations = [
      ...(this.#grounding === undefined ? [] : groundingCitations(this.#grounding, this.#text, isOpen)),
      ...(this.#quoted === undefined ? [] : quotedCitations(this.#quoted, this.#text, isOpen)),
    ];
    for (const citation of citations) this.#blocks.emit(citation);
  }
}

/** Stands for a call where only the kind of the block before matters. */
const CALL_BEFORE: Block = { type: 'tool-call', id: '', name: '', input: '', runBy: 'caller' };

function isFirstCandidate(candidate: Json): boolean {
  return isJsonObject(candidate) && (candidate['index'] ?? 0) === 0;
}

function mediaOf({ mimeType }: JsonObject): MediaBlock['media'] {
  const [kind] = (textOf(mimeType) ?? '').split('/', 1);
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}
