import { assert } from '../../lib/assert.ts';
import {
  ReservationsBusy,
  type Allowance,
  type Charge,
  type ReservationRequest,
  type LoadSpent,
  type PermitResult,
  type PermitRequest,
  type ReservationResult,
} from '../contract.ts';
import { ROUNDS_MAX } from '../reservation-bounds.ts';
import type { RunStep, StepCall } from './step-pipeline.ts';
import { ADOPT, FINISH, RESERVE } from './reservation-scripts.ts';
import type { OpenReservation } from '../memory/reservations.ts';
import type { RedisRateLimits } from './rate-limits.ts';
import type { RedisLink } from './link.ts';
import { strictestAllowances } from '../strictest-allowances.ts';

/** How long a forgotten owner is remembered: longer than any older sum is used. */
const OWNER_LIFE_MS = 3_600_000;

/** The script's id for a check without a reservation. */
const NO_RESERVATION = '';

/** A subject of a reservation with its charge; `undefined`: nothing was used. */
export interface Ended {
  readonly subject: string;
  readonly nanoUsd: number | undefined;
}

export interface RedisReservationsDeps {
  readonly link: RedisLink;
  /** The prefix of all keys, with a tag in braces, so that a cluster keeps them in one place. */
  readonly prefix: string;
  readonly spentLifeMs: number;
  /** Its calls are sent together with the reservation's. */
  readonly rateLimitState: Pick<RedisRateLimits, 'callFor' | 'answerTo' | 'lost'>;
}

/** The versions that a sum must have to be stored. */
interface Marks {
  readonly version: string;
  readonly owner: string;
  readonly settled: string;
}

interface Read extends Marks {
  readonly nanoUsd: number;
}

/** Reservations that all processes share. Every decision is one step. @throws RedisAway by every method */
export class RedisReservations {
  readonly #link: RedisLink;
  readonly #prefix: string;
  readonly #spentLifeMs: number;
  readonly #rateLimitState: RedisReservationsDeps['rateLimitState'];
  /** Reads under way, by subject, version and owner's version. */
  readonly #reading = new Map<string, Promise<Read>>();

  constructor({ link, prefix, spentLifeMs, rateLimitState }: RedisReservationsDeps) {
    this.#link = link;
    this.#prefix = prefix;
    this.#spentLifeMs = spentLifeMs;
    this.#rateLimitState = rateLimitState;
  }

  reserve(reservation: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult> {
    return this.#ask(reservation, loadSpent);
  }

  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<ReservationResult> {
    return this.#ask({ id: NO_RESERVATION, expiresInMs: 0, allowances }, loadSpent);
  }

  async #ask(request: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult> {
    const { id, expiresInMs, allowances, instead = [], permit } = request;
    const wanted = strictestAllowances(allowances);
    if (wanted.length === 0) return { ok: true, reservedNanoUsd: new Map() };
    const reads = new Map<string, Read>();
    const again = new Set<string>();
    const keys = wanted.flatMap(({ subject }) => [...this.#keysOf(subject), this.#ownerKey(subject)]);
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const isLast = round === ROUNDS_MAX - 1;
      const values = wanted.flatMap((allowance) =>
        valuesOf(allowance, reads.get(allowance.subject), isLast || again.has(allowance.subject)),
      );
      const settings = [id, Math.ceil(expiresInMs), this.#spentLifeMs, instead.join(' ')];
      const [reply, permitted] = await this.#run({ step: RESERVE, keys, values: [...settings, ...values] }, permit);
      const [outcome, ...rest] = textsOf(reply);
      if (outcome === '1')
        return { ok: true, reservedNanoUsd: reservedOf(wanted, rest), ...(permitted !== undefined && { permitted }) };
      if (outcome === '0') return refusalOf(wanted, rest);
      const unknown = unknownOf(wanted, rest);
      // A charge that may have been counted twice refuses no request. A sum that another request had read again has
      // been read again for every request that waits for it.
      for (const { subject } of unknown) if (outcome === '3' || reads.has(subject)) again.add(subject);
      await Promise.all(
        unknown.map(async ({ subject, marks }) => reads.set(subject, await this.#read(subject, marks, loadSpent))),
      );
    }
    throw new ReservationsBusy('What was spent changes faster than it can be read.');
  }

  /** The result of the rate limits comes second. */
  async #run(hold: StepCall, permit: PermitRequest | undefined): Promise<readonly [unknown, PermitResult | undefined]> {
    if (permit === undefined) return [await this.#link.run(hold.step, hold.keys, hold.values), undefined];
    try {
      const [reply, passed] = await this.#link.runBoth(hold, await this.#rateLimitState.callFor(permit));
      return [reply, passed === null ? undefined : this.#rateLimitState.answerTo(permit, passed)];
    } catch (error) {
      this.#rateLimitState.lost(permit, error);
      throw error;
    }
  }

  /** @param run runs on a connection without other users yet, or on the link */
  async finish(id: string, ended: readonly Ended[], run = this.#link.run): Promise<void> {
    if (ended.length === 0) return;
    const keys = ended.flatMap(({ subject }) => this.#keysOf(subject));
    await run(FINISH, keys, [id, ...ended.map(({ nanoUsd }) => nanoUsd ?? '')]);
  }

  /** Counts a reservation that was made elsewhere, whatever the limit: it exists already. */
  async adopt(id: string, { reserved, leftMs }: OpenReservation, run: RunStep): Promise<void> {
    if (reserved.size === 0) return;
    const keys = [...reserved.keys()].flatMap((subject) => this.#keysOf(subject));
    await run(ADOPT, keys, [id, Math.ceil(leftMs), this.#spentLifeMs, ...reserved.values()]);
  }

  async forget(owner: string): Promise<void> {
    const key = `${this.#prefix}owner:${owner}`;
    await this.#link.call((client) => client.multi().incr(key).pexpire(key, OWNER_LIFE_MS).exec());
  }

  /** Reads a sum; concurrent requests of this process share one read. */
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
  { limitNanoUsd, wantNanoUsd, minNanoUsd, share }: Allowance,
  read: Read | undefined,
  takesDoubtful: boolean,
): readonly (string | number)[] {
  const known = read === undefined ? ['', '', '', ''] : [read.version, read.owner, read.settled, read.nanoUsd];
  const shared = [share?.leastNanoUsd ?? '', share?.spentNanoUsd ?? ''];
  return [limitNanoUsd, wantNanoUsd, minNanoUsd, takesDoubtful ? '1' : '0', ...known, ...shared];
}

function textsOf(reply: unknown): readonly string[] {
  assert(Array.isArray(reply), 'the script gives a list');
  return reply.map(String);
}

function reservedOf(wanted: readonly Allowance[], reserved: readonly string[]): ReadonlyMap<string, number> {
  return new Map(wanted.map(({ subject }, at) => [subject, Number(reserved[at])]));
}

function refusalOf(wanted: readonly Allowance[], [at, left, reserved]: readonly string[]): ReservationResult {
  const allowance = wanted[Number(at) - 1];
  assert(allowance !== undefined, 'the script numbers what it was given');
  return {
    ok: false,
    subject: allowance.subject,
    leftNanoUsd: Number(left),
    reservedByOthersNanoUsd: Number(reserved),
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

/** Assigns charges to the subjects of a reservation. */
export function endedBy(reserved: Iterable<string>, charges: readonly Charge[]): readonly Ended[] {
  const charged = new Map<string, number | undefined>([...reserved].map((subject) => [subject, undefined]));
  for (const { subject, nanoUsd } of charges) charged.set(subject, (charged.get(subject) ?? 0) + nanoUsd);
  return [...charged].map(([subject, nanoUsd]) => ({ subject, nanoUsd }));
}
