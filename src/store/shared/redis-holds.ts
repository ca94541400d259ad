import { assert } from '../../lib/assert.ts';
import type { Allowance, Charge, HoldRequest, LoadSpent, PassAnswer, PassAsked, Reservation } from './contract.ts';
import { ROUNDS_MAX } from './holds-bounds.ts';
import { HoldsBusy } from './holds-busy.ts';
import type { RunStep, StepCall } from './gathered-steps.ts';
import { ADOPT, FINISH, RESERVE } from './holds-scripts.ts';
import type { OpenHold } from './memory-holds.ts';
import type { RedisGate } from './redis-gate.ts';
import type { RedisLink } from './redis-link.ts';
import { strictest } from './strictest.ts';

/** An owner that was to be forgotten: longer than any sum from before counts. */
const OWNER_LIFE_MS = 3_600_000;

/** To the script: only whether there is room. */
const NO_HOLD = '';

/** A subject of a hold; with what it is charged, or `undefined`: nothing was used. */
export interface Ended {
  readonly subject: string;
  readonly nanoUsd: number | undefined;
}

export interface RedisHoldsParts {
  readonly link: RedisLink;
  /** Of all keys. With a tag in braces, so that a cluster keeps them in one place. */
  readonly prefix: string;
  readonly spentLifeMs: number;
  /** What it asks goes with the hold. */
  readonly gate: Pick<RedisGate, 'callFor' | 'answerTo' | 'lost'>;
}

/** What must be known of a sum before it may be stored. */
interface Marks {
  readonly version: string;
  readonly owner: string;
  readonly settled: string;
}

interface Read extends Marks {
  readonly nanoUsd: number;
}

/** Holds that all processes share. Every decision is one step. @throws RedisAway by every method */
export class RedisHolds {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #spentLifeMs: number;
  readonly #gate: RedisHoldsParts['gate'];
  /** Reads under way, by subject, version and owner's version. */
  readonly #reading = new Map<string, Promise<Read>>();

  constructor({ link, prefix, spentLifeMs, gate }: RedisHoldsParts) {
    this.#link = link;
    this.#prefix = prefix;
    this.#spentLifeMs = spentLifeMs;
    this.#gate = gate;
  }

  reserve(hold: HoldRequest, loadSpent: LoadSpent): Promise<Reservation> {
    return this.#ask(hold, loadSpent);
  }

  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<Reservation> {
    return this.#ask({ id: NO_HOLD, expiresInMs: 0, allowances }, loadSpent);
  }

  async #ask(request: HoldRequest, loadSpent: LoadSpent): Promise<Reservation> {
    const { id, expiresInMs, allowances, instead = [], pass } = request;
    const wanted = strictest(allowances);
    if (wanted.length === 0) return { ok: true, heldNanoUsd: new Map() };
    const reads = new Map<string, Read>();
    const again = new Set<string>();
    const keys = wanted.flatMap(({ subject }) => [...this.#keysOf(subject), this.#ownerKey(subject)]);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const isLast = round === ROUNDS_MAX - 1;
      const values = wanted.flatMap((allowance) =>
        valuesOf(allowance, reads.get(allowance.subject), isLast || again.has(allowance.subject)),
      );
      const settings = [id, Math.ceil(expiresInMs), this.#spentLifeMs, instead.join(' ')];
      const [reply, passed] = await this.#run({ step: RESERVE, keys, values: [...settings, ...values] }, pass);
      const [outcome, ...rest] = textsOf(reply);
      if (outcome === '1')
        return { ok: true, heldNanoUsd: heldOf(wanted, rest), ...(passed !== undefined && { passed }) };
      if (outcome === '0') return refusalOf(wanted, rest);
      const unknown = unknownOf(wanted, rest);
      // Nobody is refused for a charge that may have been counted twice. A sum that somebody else had read again has
      // been read again for all who wait for it.
      for (const { subject } of unknown) if (outcome === '3' || reads.has(subject)) again.add(subject);
      await Promise.all(
        unknown.map(async ({ subject, marks }) => reads.set(subject, await this.#read(subject, marks, loadSpent))),
      );
    }
    throw new HoldsBusy('What was spent changes faster than it can be read.');
  }

  /** The answer of the gate comes second. */
  async #run(hold: StepCall, pass: PassAsked | undefined): Promise<readonly [unknown, PassAnswer | undefined]> {
    if (pass === undefined) return [await this.#link.run(hold.step, hold.keys, hold.values), undefined];
    try {
      const [reply, passed] = await this.#link.runBoth(hold, await this.#gate.callFor(pass));
      return [reply, passed === null ? undefined : this.#gate.answerTo(pass, passed)];
    } catch (error) {
      this.#gate.lost(pass, error);
      throw error;
    }
  }

  /** @param run of a connection that nobody else uses yet, or of the link */
  async finish(id: string, ended: readonly Ended[], run = this.#link.run): Promise<void> {
    if (ended.length === 0) return;
    const keys = ended.flatMap(({ subject }) => this.#keysOf(subject));
    await run(FINISH, keys, [id, ...ended.map(({ nanoUsd }) => nanoUsd ?? '')]);
  }

  /** Counts a hold that was made elsewhere, whatever the limit: it is made already. */
  async adopt(id: string, { held, leftMs }: OpenHold, run: RunStep): Promise<void> {
    if (held.size === 0) return;
    const keys = [...held.keys()].flatMap((subject) => this.#keysOf(subject));
    await run(ADOPT, keys, [id, Math.ceil(leftMs), this.#spentLifeMs, ...held.values()]);
  }

  async forget(owner: string): Promise<void> {
    const key = `${this.#prefix}owner:${owner}`;
    await this.#link.call((client) => client.multi().incr(key).pexpire(key, OWNER_LIFE_MS).exec());
  }

  /** Concurrent requests of this process share one read. */
  #read(subject: string, marks: Marks, loadSpent: LoadSpent): Promise<Read> {
    const name = `${subject} ${marks.version} ${marks.owner}`;
    const running = this.#reading.get(name);
    if (running !== undefined) return running;
    const read = loadSpent(subject)
      .then((nanoUsd) => ({ ...marks, nanoUsd }))
      .finally(() => this.#reading.delete(name));
    this.#reading.set(name, read);
    return read;
  }

  #keysOf(subject: string): readonly string[] {
    return [`${this.#prefix}sum:${subject}`, `${this.#prefix}ends:${subject}`];
  }

  #ownerKey(subject: string): string {
    const [kind, name] = subject.split(':', 2);
    return `${this.#prefix}owner:${kind}:${name}`;
  }
}

function valuesOf(
  { limitNanoUsd, wantNanoUsd, minNanoUsd }: Allowance,
  read: Read | undefined,
  takesDoubtful: boolean,
): readonly (string | number)[] {
  const known = read === undefined ? ['', '', '', ''] : [read.version, read.owner, read.settled, read.nanoUsd];
  return [limitNanoUsd, wantNanoUsd, minNanoUsd, takesDoubtful ? '1' : '0', ...known];
}

function textsOf(reply: unknown): readonly string[] {
  assert(Array.isArray(reply), 'the script gives a list');
  return reply.map(String);
}

function heldOf(wanted: readonly Allowance[], held: readonly string[]): ReadonlyMap<string, number> {
  return new Map(wanted.map(({ subject }, at) => [subject, Number(held[at])]));
}

function refusalOf(wanted: readonly Allowance[], [at, left, held]: readonly string[]): Reservation {
  const allowance = wanted[Number(at) - 1];
  assert(allowance !== undefined, 'the script numbers what it was given');
  return {
    ok: false,
    subject: allowance.subject,
    leftNanoUsd: Number(left),
    heldByOthersNanoUsd: Number(held),
  };
}

function unknownOf(wanted: readonly Allowance[], rest: readonly string[]) {
  const unknown: { readonly subject: string; readonly marks: Marks }[] = [];
  for (let at = 0; at + 3 < rest.length; at += 4) {
    const [number = '', version = '', owner = '', settled = ''] = rest.slice(at, at + 4);
    const allowance = wanted[Number(number) - 1];
    assert(allowance !== undefined, 'the script numbers what it was given');
    unknown.push({ subject: allowance.subject, marks: { version, owner, settled } });
  }
  return unknown;
}

/** What a list of charges means for the subjects of a hold. */
export function endedBy(held: Iterable<string>, charges: readonly Charge[]): readonly Ended[] {
  const charged = new Map<string, number | undefined>([...held].map((subject) => [subject, undefined]));
  for (const { subject, nanoUsd } of charges) charged.set(subject, (charged.get(subject) ?? 0) + nanoUsd);
  return [...charged].map(([subject, nanoUsd]) => ({ subject, nanoUsd }));
}
