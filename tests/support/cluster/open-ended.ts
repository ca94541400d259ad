import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { chatAnswer, chatChunk, sse, type Arrived, type Script, type ScriptedUpstream } from '../upstream.ts';
import { readChatStream } from '../http/read-stream.ts';

/** USD of one token of a response; the prompt is far below a hundredth of a slice. */
const TOKEN_USD = 0.000_01;
const SLICE_USD = 4_096 * TOKEN_USD;
const PROMPT_USD = 0.000_1;
/** What an upstream writes until it is stopped, as observed. */
const WHOLE_TOKENS = 200_000;
const WORD = 'some forty bytes of text, ten tokens....';
/** How long a test waits before it fails. */
const ABORTED_MS_MAX = 60_000;
/** Ten tokens each, several slices together. */
const WORDS = 3_000;

export const OPEN_ENDED_MODEL = '{ prompt: 1, completion: 10 }';
export const OPEN_ENDED = { model: 'acme/one', messages: [{ role: 'user', content: 'hi' }] };

/**
 * Answers of several slices, which begin to come once every caller knows whether it may, and end once it has read all of
 * them: the kernel takes a whole answer at once, long before the gateway has read what it cuts off.
 */
class LongAnswers {
  readonly #decided = Promise.withResolvers<void>();
  /** By the prompt of the caller. */
  readonly #read = new Map<unknown, PromiseWithResolvers<void>>();
  #undecided: number;
  /** Responses that their callers cut off. */
  aborted = 0;

  constructor(callers: number) {
    this.#undecided = callers;
  }

  decide(): void {
    if (--this.#undecided === 0) this.#decided.resolve();
  }

  /** Reads the answer of the caller with this prompt. */
  async read(prompt: string, { body }: Response): Promise<string> {
    const whole: string[] = [];
    let words = 0;
    let tail = '';
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      whole.push(text);
      tail += text;
      words += tail.split(WORD).length - 1;
      const last = tail.lastIndexOf(WORD);
      tail = tail.slice(Math.max(last === -1 ? 0 : last + WORD.length, tail.length - WORD.length + 1));
      if (words > WORDS) this.#readOf(prompt).resolve();
    }
    return whole.join('');
  }

  #readOf(prompt: unknown): PromiseWithResolvers<void> {
    const read = this.#read.get(prompt) ?? Promise.withResolvers<void>();
    this.#read.set(prompt, read);
    return read;
  }

  /** An upstream sees that it was cut off a moment after the caller has its end. */
  async haveBeenAborted(count: number): Promise<void> {
    const endMs = performance.now() + ABORTED_MS_MAX;
    while (this.aborted < count && performance.now() < endMs) await wait(10);
    assert.equal(this.aborted, count, 'an upstream that has more to say is cut off');
  }

  readonly script: Script = async (arrived, response) => {
    this.decide();
    if (arrived.body['stream'] !== true) {
      await this.#decided.promise;
      const { max_tokens: tokens = WHOLE_TOKENS } = arrived.body;
      const usage = { prompt_tokens: 5, completion_tokens: tokens };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chatAnswer('ok', { usage })));
      return;
    }
    response.on('close', () => {
      if (!response.writableFinished) this.aborted++;
    });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([chatChunk({ role: 'assistant', content: WORD })]));
    await this.#decided.promise;
    for (let word = 0; word < WORDS && !response.destroyed; word += 50) {
      const isTaken = response.write(sse(Array.from({ length: 50 }, () => chatChunk({ content: WORD }))));
      if (!isTaken) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    const [message] = arrived.body['messages'] as readonly { readonly content: string }[];
    const { promise, resolve } = this.#readOf(message?.content);
    response.once('close', () => resolve());
    if (!response.destroyed) await promise;
    const usage = { prompt_tokens: 5, completion_tokens: WORDS * 10 };
    response.end(sse([chatChunk({}, 'stop', { usage }), '[DONE]']));
  };
}

export interface OpenEndedGateway {
  readonly upstream: ScriptedUpstream;
  readonly ask: (key: string, body: object) => Promise<Response>;
  /** @returns the text of the key */
  readonly createKey: (limitUsd: number) => Promise<string>;
  /** USD that the key has spent. */
  readonly usedBy: (key: string) => Promise<number>;
}

/**
 * Sends concurrent requests of this many callers, on a key with room for this many of them.
 * @spec money-34
 */
export async function askAtOnce(
  { upstream, ask, createKey, usedBy }: OpenEndedGateway,
  { callers, rooms, stream }: { readonly callers: number; readonly rooms: number; readonly stream: boolean },
): Promise<void> {
  const limitUsd = Math.round(rooms * (SLICE_USD + PROMPT_USD) * 1e9) / 1e9;
  const key = await createKey(limitUsd);
  const answers = new LongAnswers(callers);
  const arrivedBefore = upstream.arrived.length;
  upstream.script = answers.script;
  const refusals: string[] = [];
  const ends: (string | null)[] = [];
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const prompt = `hi ${caller}`;
      const response = await ask(key, { ...OPEN_ENDED, messages: [{ role: 'user', content: prompt }], stream });
      if (response.status !== 200) {
        answers.decide();
        assert.equal(response.status, 402, await response.clone().text());
        refusals.push(((await response.json()) as { error: { message: string } }).error.message);
        return;
      }
      const text = await answers.read(prompt, response);
      const { finish, error } = stream ? readChatStream(text) : { finish: 'whole' };
      assert.equal(error, undefined);
      ends.push(finish);
    }),
  );
  const begun = ends.length;
  const what = `${begun} of ${callers} began`;
  assert.equal(begun + refusals.length, callers);
  if (stream && callers <= rooms) assert.equal(begun, callers, what);
  assert.ok(begun >= Math.min(callers, rooms, stream ? Infinity : 4), what);
  for (const message of refusals) {
    assert.match(
      message,
      /^The API key has .* left of its limit of .* USD\. The request needs at least .* USD for its/,
    );
    assert.match(message, /Try again when they have ended\.$|Set max_tokens to \d+ or less\.$/);
  }
  const used = await usedBy(key);
  assert.ok(used > 0 && used <= limitUsd, `${used} USD of ${limitUsd} were charged`);
  const sent = upstream.arrived.slice(arrivedBefore).map(({ body }: Arrived) => body['max_tokens']);
  if (stream) {
    // What a stream that was cut off leaves of its last slice may be enough for another one to come to its end.
    const cut = ends.filter((end) => end === 'length').length;
    if (callers >= rooms) {
      assert.ok(cut > 0 && ends.every((end) => end === 'length' || end === 'stop'), ends.join(' '));
      await answers.haveBeenAborted(cut);
    }
    assert.deepEqual(new Set(sent), new Set([undefined]));
    return;
  }
  for (const tokens of sent)
    // Where all that a model can write is reserved, its own maximum is enough.
    if (tokens !== undefined) assert.ok(typeof tokens === 'number' && tokens >= 1_024, JSON.stringify(tokens));
    else assert.ok(rooms > callers / 2, 'a maximum is sent');
}
