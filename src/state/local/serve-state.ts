import type { Clock } from '../../lib/clock.ts';
import { ExpiringCache } from '../../lib/cache/expiring-cache.ts';
import type { MessageLink } from '../../lib/net/message-link.ts';
import type { Permit, PermitRequest, PermitResult, ReservationResult, SharedState } from '../contract.ts';
import { createMemoryPositions } from '../memory/journal-positions.ts';
import { createInvalidationHub } from './invalidation-hub.ts';
import { serveResponses } from './response-rows.ts';
import type { SentPermit, SentReservation, StateProcedures, WorkerStateProcedures } from './procedures.ts';

/** The state that the first process keeps for itself and for its workers. */
export interface LocalStateServer {
  /** As the first process itself uses it. */
  readonly state: SharedState;
  /**
   * Begins to serve a worker. What it holds is free again once it is gone.
   * @param adopted settles when everything that a worker that is gone had to store is durable: only then its reservations
   * are released
   */
  serve(link: MessageLink<WorkerStateProcedures>, adopted: () => Promise<void>): StateProcedures;
  /** Settles when every worker has heard what was announced before, or takes too long. */
  delivered(): Promise<void>;
}

export interface LocalStateDeps {
  readonly clock: Clock;
  /** The state of one process, in which everything is kept. */
  readonly memory: SharedState;
}

const VALUES_MAX = 100_000;
const VALUE_BYTES_MAX = 33_554_432;
const VALUE_MS_MAX = 3_600_000;
const BYTES_PER_CHAR = 2;

export function serveLocalState({ clock, memory }: LocalStateDeps): LocalStateServer {
  const hub = createInvalidationHub();
  const limits = { entriesMax: VALUES_MAX, bytesMax: VALUE_BYTES_MAX, lifetimeMs: VALUE_MS_MAX };
  const values = new ExpiringCache<string>(limits, () => clock.monotonicMs());
  const positions = createMemoryPositions({ clock });
  const state: SharedState = {
    ...memory,
    invalidations: hub,
    values: {
      get: (key) => Promise.resolve(values.peek(key)),
      set: (key, value, lifeMs) => values.set(key, value, value.length * BYTES_PER_CHAR, lifeMs),
    },
    positions,
  };
  return {
    state,
    delivered: () => hub.delivered(),
    serve(link, adopted) {
      const held = createHeld(state);
      hub.join(link);
      void link.closed.then(adopted).finally(() => held.free());
      return {
        ...held.procedures(link),
        announce: (news) => hub.pass(link, news),
        publishPosition: ({ stream, position }) => void positions.publish(stream, position),
        withdrawPosition: (stream) => void positions.withdraw(stream),
        async readPositions() {
          const { live, silent } = await positions.read();
          return { live: [...live], silent: [...silent] };
        },
        getValue: async (key) => (await state.values?.get(key)) ?? null,
        setValue: ({ name, text, lifeMs }) => state.values?.set(name, text, lifeMs),
        getText: async (name) => (await state.texts.get(name)) ?? null,
        setText: ({ name, text, lifeMs }) => state.texts.set(name, text, lifeMs),
        deleteText: (name) => state.texts.delete(name),
        ...serveResponses(state.responses),
      };
    },
  };
}

type HoldingProcedures = Pick<
  StateProcedures,
  'reserve' | 'check' | 'settle' | 'release' | 'forget' | 'acquire' | 'endPermit'
>;

/** What one worker holds. */
interface Held {
  procedures(link: MessageLink<WorkerStateProcedures>): HoldingProcedures;
  /** Gives everything back. */
  free(): void;
}

function createHeld({ reservations, rateLimitState }: Pick<SharedState, 'reservations' | 'rateLimitState'>): Held {
  /** The subjects of open reservations. */
  const reserved = new Map<string, readonly string[]>();
  const permits = new Map<number, Permit>();
  let permitsMade = 0;

  function sendPermit(result: PermitResult): SentPermit {
    if (!result.ok) return result;
    const permit = ++permitsMade;
    permits.set(permit, result.permit);
    return { ok: true, permit };
  }

  async function sendReservation(
    result: ReservationResult,
    permit: PermitRequest | undefined,
  ): Promise<SentReservation> {
    if (!result.ok) return result;
    const sent = { ok: true, reserved: [...result.reservedNanoUsd] } as const;
    return permit === undefined ? sent : { ...sent, permitted: sendPermit(await rateLimitState.acquire(permit)) };
  }

  return {
    procedures: (link) => ({
      async reserve({ reservation, loads }) {
        const result = await reservations.reserve(reservation, (subject) => link.call('loadSpent', { loads, subject }));
        if (result.ok) reserved.set(reservation.id, [...result.reservedNanoUsd.keys()]);
        return sendReservation(result, reservation.permit);
      },
      async check({ allowances, loads }) {
        const result = await reservations.check(allowances, (subject) => link.call('loadSpent', { loads, subject }));
        return sendReservation(result, undefined);
      },
      async settle({ id, charges }) {
        reserved.delete(id);
        await reservations.settle(id, charges);
      },
      async release(id) {
        reserved.delete(id);
        await reservations.release(id);
      },
      forget: (owner) => reservations.forget(owner),
      acquire: async (requested) => sendPermit(await rateLimitState.acquire(requested)),
      async endPermit({ permit, used }) {
        const ended = permits.get(permit);
        permits.delete(permit);
        await ended?.end(new Map(used));
      },
    }),
    free() {
      for (const permit of permits.values()) void permit.end();
      for (const id of reserved.keys()) void reservations.release(id);
      // Of the last charges some may be durable that were not settled.
      const owners = new Set([...reserved.values()].flat().map(ownerOf));
      for (const owner of owners) void reservations.forget(owner);
      permits.clear();
      reserved.clear();
    },
  };
}

function ownerOf(subject: string): string {
  return subject.split(':', 2).join(':');
}
