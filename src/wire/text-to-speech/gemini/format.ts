import { invalid } from '../../../canonical/gateway-error.ts';
import { tokenCount } from '../../../canonical/usage.ts';
import { Base64Member } from '../../../lib/json/base64-member.ts';
import { parseJsonObject } from '../../../lib/json.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { decodeError } from '../../upstream-error.ts';
import type { SoundDecoder, UpstreamSpeechFormat } from '../format.ts';

/** Speech of a conversation's call. Sound comes inside of JSON. @source @google/genai 2.32, `SpeechConfig` */
export const geminiSpeech: UpstreamSpeechFormat = {
  id: 'tts/gemini',
  formats: ['pcm'],
  encode({ input, speed, instructions, extra }, { model, voice, answersIn }) {
    if (answersIn !== 'pcm') throw invalid('response_format', `"${answersIn}" has no word at this provider`);
    if (speed !== undefined) throw invalid('speed', 'has no word at this provider: say it in the text');
    const language = extra?.fields['language'];
    return {
      path: `/models/${encodePathSegment(model.replace(/^models\//, ''))}:generateContent`,
      body: {
        // A direction stands before what is to be spoken, as the vendor's guide does it.
        contents: [
          { role: 'user', parts: [{ text: instructions === undefined ? input : `${instructions}: ${input}` }] },
        ],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: {
            voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } },
            ...(typeof language === 'string' && { languageCode: language }),
          },
        },
      },
      warnings: [],
    };
  },
  createDecoder: () => new GeminiSound(),
  decodeError,
};

const MEDIA_TYPE = /"mimeType"\s*:\s*"(audio\/[^"]{1,80})"/;

class GeminiSound implements SoundDecoder {
  readonly #member = new Base64Member('data');
  #mediaType: string | undefined;

  push(chunk: Uint8Array): Buffer {
    const sound = this.#member.push(chunk);
    this.#mediaType ??= MEDIA_TYPE.exec(this.#member.rest)?.[1];
    return sound;
  }

  /** Samples without a head, or a file. */
  get format(): 'pcm' | 'wav' | undefined {
    if (this.#mediaType === undefined) return undefined;
    return /^audio\/(?:x-)?wav/.test(this.#mediaType) ? 'wav' : 'pcm';
  }

  get sampleRate(): number | undefined {
    const rate = Number(/rate=(\d{4,6})/.exec(this.#mediaType ?? '')?.[1]);
    return Number.isInteger(rate) ? rate : undefined;
  }

  end(): ReturnType<SoundDecoder['end']> {
    const body = parseJsonObject(this.#member.rest);
    const blocked = textOf(objectOf(body?.['promptFeedback'])?.['blockReason']);
    const finish = textOf(objectsOf(body?.['candidates'])[0]?.['finishReason']);
    const counted = objectOf(body?.['usageMetadata']);
    const promptTokens = tokenCount(counted?.['promptTokenCount']);
    const completionTokens = tokenCount(counted?.['candidatesTokenCount']);
    return {
      ...(blocked !== undefined && { refused: `The text was blocked: ${blocked}.` }),
      ...(blocked === undefined &&
        finish !== undefined &&
        WITHHELD.has(finish) && { refused: `The speech was withheld: ${finish}.` }),
      ...(promptTokens !== undefined && completionTokens !== undefined && { promptTokens, completionTokens }),
    };
  }
}

/** @source @google/genai 2.32, `FinishReason` */
const WITHHELD: ReadonlySet<string> = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION']);
