import type { BatchLimits, CallAnswer, ExportedGeneration, OutboundCall, Verdict } from '../contract.ts';
import type { CursorCounts } from '../../../store/exports/cursors.ts';
import type { LiveDestination } from '../destinations.ts';
import type { Poster } from '../post.ts';
import type { DeliveryStop } from './delivery-state.ts';

export interface SendDeps {
  readonly live: LiveDestination;
  readonly limits: BatchLimits;
  readonly poster: Pick<Poster, 'post'>;
  readonly nowMs: () => number;
  /** Ends calls that are under way. */
  readonly signal: AbortSignal;
  /** Waits; ends with the signal. */
  readonly pause: (ms: number) => Promise<void>;
  readonly onTaken: (count: number) => void;
  readonly onRefused: (id: string, status: number, message: string) => void;
  readonly onRefusedUnknown: (count: number) => void;
  readonly onWarning: (message: string) => void;
  /** Makes a text of the address safe to show. */
  readonly redact: (text: string, call: OutboundCall) => string;
}

/** After so many records that were refused one by one, it is no record that is wrong. */
const REFUSED_IN_A_ROW_MAX = 20;
/** How long a call may be followed by others that ask for its outcome. */
const FOLLOW_MS_MAX = 60_000;

/** Sends records to one destination, and finds the ones among them that it refuses. */
export class BatchSender {
  readonly #deps: SendDeps;
  /** What became of records whose batch is not done: a retry leaves them out. */
  readonly #done = new Map<string, 'sent' | 'failed'>();
  #refusedInARow = 0;

  constructor(deps: SendDeps) {
    this.#deps = deps;
  }

  /** @returns why sending stopped; `undefined`: all records are done */
  async send(records: readonly ExportedGeneration[]): Promise<DeliveryStop | undefined> {
    const left = records.filter(({ id }) => !this.#done.has(id));
    if (left.length === 0) return undefined;
    const { live, limits, nowMs } = this.#deps;
    const calls = await live.open.calls(left, nowMs());
    if (calls.some((call) => bytesOf(call) > limits.bytes)) {
      if (left.length > 1) return this.#sendHalves(left);
      const smaller = left[0] && withoutTexts(left[0]);
      if (smaller !== undefined) return this.send([smaller]);
    }
    for (let at = 0; at < calls.length; at += limits.callsAtOnce) {
      const some = calls.slice(at, at + limits.callsAtOnce);
      const stops = await Promise.all(some.map((call) => this.#call(call, left)));
      const stop = stops.find((one) => one !== undefined);
      if (stop !== undefined) return stop;
    }
    return undefined;
  }

  /** What became of the records of a batch that is done, which are forgotten with it. */
  conclude(records: readonly ExportedGeneration[]): Pick<CursorCounts, 'sent' | 'failed'> {
    const failed = records.filter(({ id }) => this.#done.get(id) === 'failed').length;
    for (const { id } of records) this.#done.delete(id);
    return { sent: records.length - failed, failed };
  }

  /** Forgets records that do not wait any more: they were deleted meanwhile. */
  retain(records: ReadonlySet<string>): void {
    for (const id of this.#done.keys()) if (!records.has(id)) this.#done.delete(id);
  }

  async #sendHalves(records: readonly ExportedGeneration[]): Promise<DeliveryStop | undefined> {
    const middle = Math.ceil(records.length / 2);
    return (await this.send(records.slice(0, middle))) ?? this.send(records.slice(middle));
  }

  async #call(call: OutboundCall, batch: readonly ExportedGeneration[]): Promise<DeliveryStop | undefined> {
    const { verdict, status } = await this.#judge(call);
    const message = 'message' in verdict ? this.#deps.redact(verdict.message, call) : '';
    switch (verdict.kind) {
      case 'taken':
        this.#noteTaken(call, verdict);
        return undefined;
      case 'retry':
        return { status, message, isFault: false, afterMs: verdict.afterMs };
      case 'fault':
        return { status, message, isFault: true, suspends: verdict.suspends };
      case 'rejected':
        return this.#findRejected(call, batch, { status: status ?? 0, message });
      case 'next':
        break;
    }
    return { status, message: 'The address did not say in time what became of the call.', isFault: false };
  }

  async #judge(first: OutboundCall): Promise<{ readonly verdict: Verdict; readonly status: number | null }> {
    const { live, limits, poster, signal, pause, nowMs } = this.#deps;
    const untilMs = nowMs() + FOLLOW_MS_MAX;
    for (let call = first; ;) {
      const outcome = await poster.post(call, { msMax: limits.callMs, isCompressed: live.isCompressed, signal });
      if (outcome.status === undefined) {
        const verdict: Verdict = { kind: outcome.isRefused ? 'fault' : 'retry', message: outcome.reason };
        return { verdict, status: null };
      }
      const answer: CallAnswer = outcome;
      const verdict = live.open.judge(call, answer);
      if (verdict.kind !== 'next' || nowMs() + verdict.afterMs > untilMs || signal.aborted)
        return { verdict, status: answer.status };
      await pause(verdict.afterMs);
      call = verdict.call;
    }
  }

  #noteTaken(call: OutboundCall, { refusedCount = 0, warning }: Verdict & { readonly kind: 'taken' }): void {
    const { ids } = call;
    const refused = Math.min(refusedCount, ids.length);
    // Which ones the answer does not say.
    for (const [index, id] of ids.entries()) this.#done.set(id, index < refused ? 'failed' : 'sent');
    if (refused > 0) this.#deps.onRefusedUnknown(refused);
    if (refused < ids.length) this.#refusedInARow = 0;
    this.#deps.onTaken(ids.length - refused);
    if (warning !== undefined) this.#deps.onWarning(this.#deps.redact(warning, call));
  }

  /** Halves what was rejected, down to the record that is wrong, which is tried once more without its content. */
  async #findRejected(
    { ids }: OutboundCall,
    batch: readonly ExportedGeneration[],
    { status, message }: { readonly status: number; readonly message: string },
  ): Promise<DeliveryStop | undefined> {
    const rejected = batch.filter(({ id }) => ids.includes(id));
    const [only] = rejected;
    if (rejected.length !== 1 || only === undefined) return this.#sendHalves(rejected);
    const smaller = withoutTexts(only);
    if (smaller !== undefined) return this.send([smaller]);
    if (this.#refusedInARow >= REFUSED_IN_A_ROW_MAX) return { status, message, isFault: true };
    this.#refusedInARow++;
    this.#done.set(only.id, 'failed');
    this.#deps.onRefused(only.id, status, message);
    return undefined;
  }
}

function bytesOf({ body }: OutboundCall): number {
  return body === undefined ? 0 : Buffer.byteLength(body);
}

/** First without the conversation, then without what the caller sent along; `undefined`: it has neither. */
function withoutTexts(generation: ExportedGeneration): ExportedGeneration | undefined {
  const { content, ...rest } = generation;
  if (content !== undefined) return { ...rest, contentState: 'refused' };
  const { trace_id, parent_span_id, ...others } = generation.trace;
  if (Object.keys(others).length === 0) return undefined;
  const kept = { ...(trace_id !== undefined && { trace_id }), ...(parent_span_id !== undefined && { parent_span_id }) };
  return { ...generation, trace: kept };
}
