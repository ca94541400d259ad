import { GatewayError } from '../canonical/gateway-error.ts';
import type { InternInputRow, InternRunRow, InternStepRow } from '../store/interns/columns.ts';
import { isOver, type RunStore } from '../store/interns/runs.ts';
import type { RunSignals } from './run-signals.ts';

/** What a follower of a run sees: each step once it is settled, and why there is nothing more to come. */
export type RunEvent =
  | { readonly type: 'step'; readonly step: InternStepRow; readonly input?: string; readonly output?: string }
  | { readonly type: 'idle' }
  | { readonly type: 'waiting'; readonly run: InternRunRow; readonly pending: InternInputRow }
  | { readonly type: 'end'; readonly run: InternRunRow };

export interface Follow {
  /** Counts a stream that is open. @returns what ends it. @throws GatewayError 429 where there are too many */
  openStream(): () => void;
  /** Ends with the run, or when it waits for a person. @param after steps up to this one are left out */
  follow(run: InternRunRow, after: number, signal: AbortSignal): AsyncGenerator<RunEvent, void>;
}

/** Steps of another process are seen after this time. */
const LOOK_EVERY_MS = 1_000;
/** Of one process: each reads the database now and then. */
const STREAMS_MAX = 200;

export function createFollow({
  runs,
  signals,
}: {
  readonly runs: RunStore;
  readonly signals: Pick<RunSignals, 'next'>;
}): Follow {
  let open = 0;
  return {
    openStream() {
      if (open >= STREAMS_MAX)
        throw new GatewayError('rate_limit_exceeded', 'Too many runs are followed: try again later.');
      open++;
      return () => void open--;
    },
    async *follow({ id, internId }, after, signal) {
      let shown = after;
      while (!signal.aborted) {
        // Listens first: what changes while it reads wakes it at once.
        const next = signals.next(id, LOOK_EVERY_MS, signal);
        const run = await runs.find(id);
        if (run === undefined) return;
        const steps = run.step > shown ? await runs.steps(id) : [];
        const fresh = steps.filter(({ n, state }) => n > shown && (state === 'done' || state === 'unknown'));
        const names = fresh.flatMap(({ n }) => [`${id} ${n} input`, `${id} ${n} output`]);
        const texts = await runs.named(internId, names);
        for (const step of fresh) {
          const [input, output] = [texts.get(`${id} ${step.n} input`), texts.get(`${id} ${step.n} output`)];
          yield { type: 'step', step, ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
          shown = step.n;
        }
        if (isOver(run.state) || run.state === 'paused') {
          yield { type: 'end', run };
          return;
        }
        const pending =
          run.state === 'waiting_input'
            ? (await runs.inputsOf(id)).find(({ state }) => state === 'pending')
            : undefined;
        if (pending !== undefined) {
          yield { type: 'waiting', run, pending };
          return;
        }
        yield { type: 'idle' };
        await next;
      }
    },
  };
}
