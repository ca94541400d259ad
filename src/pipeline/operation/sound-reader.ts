import type { SpeechFormat } from '../../canonical/speech.ts';
import { isUsable, SOUND_HEAD_BYTES_MAX, wavDataAt } from '../../lib/audio/usable-sound.ts';
import { wavFormatOf, wavHead } from '../../lib/audio/wav.ts';
import type { InboundAnswer } from '../../lib/net/http-client.ts';
import type { SoundDecoder } from '../../wire/text-to-speech/format.ts';

const SAMPLE_RATE_DEFAULT = 24_000;

/** Sound that has begun, as the caller gets it. */
export interface FirstSound {
  readonly bytes: Buffer;
  readonly sampleRate: number;
}

/** Reads the sound of one answer. A class because it lives as long as its answer. */
export class SoundReader {
  readonly #answer: InboundAnswer;
  readonly #decoder: SoundDecoder | undefined;

  constructor(answer: InboundAnswer, decoder: SoundDecoder | undefined) {
    this.#answer = answer;
    this.#decoder = decoder;
  }

  /** @returns more of the sound, which may be none of it yet; `undefined`: there is no more */
  async read(): Promise<Buffer | undefined> {
    const chunk = await this.#answer.read();
    if (chunk === undefined) return undefined;
    return this.#decoder?.push(chunk) ?? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }

  /** What else the answer has said, once all of it has been read. */
  end(): ReturnType<SoundDecoder['end']> {
    return this.#decoder?.end() ?? {};
  }

  /**
   * Reads until there is sound. Nothing is owed before.
   * @param from in which the sound comes, unless the answer says otherwise @param known of its samples, where nothing else is
   * @returns `undefined`: there is none, or not in a form from which the caller's can be made
   */
  async first(from: SpeechFormat, to: SpeechFormat, known: number | undefined): Promise<FirstSound | undefined> {
    let head = Buffer.alloc(0);
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) {
      head = Buffer.concat([head, chunk]);
      const format = this.#decoder?.format ?? from;
      if (isUsable(head, format)) return this.#convert(head, format, to, known);
      if (head.length > SOUND_HEAD_BYTES_MAX) return undefined;
    }
    return undefined;
  }

  /** The two exact conversions: samples get a head, or lose it. */
  #convert(head: Buffer, from: SpeechFormat, to: SpeechFormat, known: number | undefined): FirstSound | undefined {
    const file = from === 'wav' ? wavFormatOf(head) : undefined;
    const sampleRate = file?.sampleRate ?? this.#rate() ?? known ?? SAMPLE_RATE_DEFAULT;
    if (from === to) return { bytes: head, sampleRate };
    if (from === 'pcm' && to === 'wav') return { bytes: Buffer.concat([wavHead({ sampleRate }), head]), sampleRate };
    if (from !== 'wav' || to !== 'pcm' || file?.isPlain === false) return undefined;
    return { bytes: head.subarray(wavDataAt(head) ?? 0), sampleRate };
  }

  /** As the answer says, which wins over the catalog. */
  #rate(): number | undefined {
    const rate = Number(/;\s*rate=(\d{4,6})/.exec(this.#answer.headers['content-type'] ?? '')?.[1]);
    return this.#decoder?.sampleRate ?? (Number.isInteger(rate) ? rate : undefined);
  }
}
