import { assert } from '../../lib/assert.ts';
import { redisScript, type RedisScript } from './script.ts';

/**
 * Lua that runs without other commands in between. It reads KEYS and ARGV, all texts, finds `now`, `text` and `keep`,
 * and returns a text, a whole number up to 2^53, or a list of them. Numbers arrive as their digits, in a text.
 */
export interface RedisStep {
  readonly lua: string;
}

/** A step with its keys and values. */
export interface StepCall {
  readonly step: RedisStep;
  readonly keys: readonly string[];
  readonly values: readonly (string | number)[];
}

/** @returns the answer of the step */
export type RunStep = (
  step: RedisStep,
  keys: readonly string[],
  values: readonly (string | number)[],
) => Promise<unknown>;

/**
 * Runs the second step directly after the first, and only where the first one answers with a list that begins with 1.
 * @returns the answers of both; null for a second step that did not run
 */
export type RunBoth = (first: StepCall, second: StepCall) => Promise<readonly [unknown, unknown]>;

/**
 * The number of items in one call, each one step or two. Redis does nothing else meanwhile: some ten microseconds each.
 */
const BATCH_MAX = 100;
/** Keys live so much longer than they must, so that not every use has to extend their life. */
const SPARE_MS = 60_000;

interface PendingSteps {
  readonly calls: readonly StepCall[];
  readonly resolve: (answers: readonly unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

type Send = (script: RedisScript, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

/**
 * Sends all steps of one turn of the event loop as one call: a call costs more than all that a step does. Each step
 * does what it would do alone, and they run in the order of their requests. A call that fails fails for all of its
 * steps.
 */
export class StepPipeline {
  readonly #send: Send;
  /** The number of each step in the script, which holds every step that was ever used. */
  readonly #numbers = new Map<RedisStep, number>();
  #script = scriptOf([]);
  #pending: PendingSteps[] = [];

  constructor(send: Send) {
    this.#send = send;
  }

  readonly run: RunStep = async (step, keys, values) => (await this.#ask([{ step, keys, values }]))[0];

  readonly runBoth: RunBoth = async (first, second) => {
    const [one, other] = await this.#ask([first, second]);
    return [one, other];
  };

  #ask(calls: readonly StepCall[]): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(this.#leave);
      this.#pending.push({ calls, resolve, reject });
    });
  }

  readonly #leave = (): void => {
    const batch = this.#pending;
    this.#pending = [];
    for (let at = 0; at < batch.length; at += BATCH_MAX) void this.#call(batch.slice(at, at + BATCH_MAX));
  };

  async #call(batch: readonly PendingSteps[]): Promise<void> {
    try {
      const places = new Map<string, number>();
      const steps = batch.flatMap(({ calls }) => calls.map((call, at) => this.#encode(call, at > 0, places)));
      const reply = await this.#send(this.#script, [...places.keys()], [JSON.stringify(steps)]);
      const answers: unknown = JSON.parse(String(reply));
      assert(Array.isArray(answers) && answers.length === steps.length, 'each step has its answer');
      let at = 0;
      for (const { calls, resolve } of batch) resolve(answers.slice(at, (at += calls.length)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #encode({ step, keys, values }: StepCall, follows: boolean, places: Map<string, number>): readonly unknown[] {
    return [
      this.#numberOf(step),
      keys.map((key) => placeIn(places, key)),
      // A lone surrogate would spoil the whole call: Redis refuses such JSON.
      values.map((value) => String(value).toWellFormed()),
      follows,
    ];
  }

  #numberOf(step: RedisStep): number {
    const known = this.#numbers.get(step);
    if (known !== undefined) return known;
    const number = this.#numbers.size + 1;
    this.#numbers.set(step, number);
    this.#script = scriptOf([...this.#numbers.keys()]);
    return number;
  }
}

/** Finds the place of a key: steps of one call share keys, those of the account at least, and each key is sent once. */
function placeIn(places: Map<string, number>, key: string): number {
  const known = places.get(key);
  if (known !== undefined) return known;
  const place = places.size + 1;
  places.set(key, place);
  return place;
}

/**
 * Keys: those of all steps. Value: for each step its number, the places of its keys, its values, and whether it runs
 * only after the success of the one before. `now` is microseconds by the clock of Redis, so that processes need not
 * agree on one; it and money are integers below 2^53, which numbers of Lua hold exactly and only `text` writes so.
 */
function scriptOf(steps: readonly RedisStep[]): RedisScript {
  return redisScript(`
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local function text(n) return string.format('%.0f', n) end
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, text(ms + ${SPARE_MS})) end
end
-- Of a number the JSON of Redis writes no more than 14 digits.
local function told(answer)
  if type(answer) == 'number' then return text(answer) end
  if type(answer) ~= 'table' then return answer end
  for n, each in ipairs(answer) do answer[n] = told(each) end
  return answer
end
local steps = {
${steps.map(({ lua }) => `function(KEYS, ARGV)\n${lua}\nend`).join(',\n')}
}
local answers = {}
local function wentWell(answer) return type(answer) == 'table' and answer[1] == '1' end
for i, asked in ipairs(cjson.decode(ARGV[1])) do
  local keys = {}
  for n, place in ipairs(asked[2]) do keys[n] = KEYS[place] end
  if asked[4] and not wentWell(answers[i - 1]) then
    answers[i] = cjson.null
  else
    answers[i] = told(steps[asked[1]](keys, asked[3]))
  end
end
return cjson.encode(answers)
`);
}
