import type { EndEvent } from '../canonical/events.ts';
import type { Warning } from '../canonical/extra.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import { openRouteReport, type RouteReport } from '../canonical/route-report.ts';
import { NO_USAGE, type Usage } from '../canonical/usage.ts';
import type { Cost, PriceTable } from '../catalog/price.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { Clock } from '../lib/clock.ts';
import type { Json } from '../lib/json.ts';
import type { AttemptRecord } from '../store/generation-json.ts';
import type { AnswerCapture } from './answer-capture.ts';

/** Who asked. */
export interface Asker {
  readonly keyHash: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** On whose behalf the key was made; null: nobody's. */
  readonly memberId: string | null;
  /** The key's name as its owner gave it. */
  readonly name?: string;
}

/** Who gives an answer, or a part of it. */
interface Server {
  readonly endpoint: Endpoint;
  /** The caller's own credential was used: the provider charges the caller. */
  readonly isByok: boolean;
  /** Which of the attempts. */
  readonly attempt: number;
  /** How long its answer is likely to become that nobody hears to the end, in tokens. */
  readonly expectedTokens?: (() => number | undefined) | undefined;
  /** How long it was told that its answer may be, in tokens; absent, and `undefined`: as long as it likes. */
  readonly tokensMax?: (() => number | undefined) | undefined;
}

/** What one endpoint gave of an answer: all of it, unless it broke off and another went on. */
export interface AnswerPart extends Server {
  /** As the upstream counted, so far as it did. */
  readonly usage: Usage | undefined;
  /** Bytes of text, reasoning and tool input that came, as UTF-8: for an estimate when no usage did. */
  readonly answerBytes: number;
  /** Of the answer so far, which it was given with the request. */
  readonly givenBytes: number;
  /** What it was asked, where that is not what the caller asked: a later turn. */
  readonly asked?: GenerationRequest | undefined;
  /** It came to its end: a turn of the model after which tools ran. */
  readonly isOver?: true;
}

/** The same, accounted for. */
export interface ServedPart extends Server {
  readonly usage: Usage;
  /** At list price, whoever pays. `undefined`: the price is unknown, which is not zero. */
  readonly cost: Cost | undefined;
}

/** An attempt under way. Ends with `commit` or `fail`. */
export interface OpenAttempt {
  warn(warnings: readonly Warning[]): void;
  /** The request went out. */
  sent(): void;
  commit(): void;
  fail(failure: UpstreamFailure): void;
}

/** Calls of server tools, all turns together. */
export interface ServerToolUse {
  /** Of the model, the last one included. */
  turns: number;
  requested: number;
  executed: number;
  /** Of those that were executed. */
  failed: number;
  searches: number;
  fetches: number;
  /** What the calls themselves cost, beside models that they asked. Nano-USD. */
  feeNanoUsd: number;
  /** The part of it for searches and pages. */
  webFeeNanoUsd: number;
}

/** What a generation inside another one came to. */
export interface InnerRun {
  readonly usage: Usage;
  readonly cost: Cost | undefined;
}

/** How it went when a stream broke off and another endpoint was to go on with it. */
export type RescueOutcome = 'prefill' | 'restart' | 'failed';

const WARNINGS_MAX = 50;

/**
 * Everything that is known of one generation while it runs. The pipeline fills it, and `settle` turns it into one row,
 * one log line and one set of metrics. It holds no secret and no text of the conversation.
 */
export class GenerationRecord {
  readonly id: string;
  /** What the caller asked for; its own id, unless it runs inside another one. */
  readonly requestId: string;
  /** As it may be kept: what content filters replace is replaced here too. */
  request: GenerationRequest;
  readonly asker: Asker;
  /** Hash of account and end user: the only form in which the caller's `user` leaves. */
  readonly endUserId: string;
  readonly report: RouteReport;
  /** Unix ms. */
  readonly createdMs: number;
  readonly attempts: AttemptRecord[] = [];
  readonly warnings: Warning[] = [];
  warningsDropped = 0;
  /** Who began the answer, or had the request when the caller hung up before that. */
  endpoint: Endpoint | undefined;
  /**
   * What was given before whoever answers now: by those that broke off, where another endpoint went on, and in turns after
   * which tools ran. What stands below of the answer is the last one's.
   */
  readonly earlierParts: AnswerPart[] = [];
  /** Who answers now. */
  serving: Server | undefined;
  /** Who had the request, and had said nothing, when the caller hung up. Whoever began the answer is not meant. */
  abandoned: Server | undefined;
  /** What the model is asked with the turn that runs now; absent: what the caller asked. */
  asked: GenerationRequest | undefined;
  readonly rescues: RescueOutcome[] = [];
  /** What became of server tools; absent: none were offered. */
  serverTools: ServerToolUse | undefined;
  /** Fees of plugins, nano-USD: searches, files that a service read. */
  pluginFeesNanoUsd = 0;
  /** Those among them for files. */
  fileFeesNanoUsd = 0;
  /** What plugins have to say in `error.metadata`, where the request fails after all. */
  readonly forError: Record<string, Json> = {};
  /** Generations inside this one, each with a record and a charge of its own. */
  readonly innerRuns: InnerRun[] = [];
  /** Every part of the answer with what it cost, once the generation has ended. */
  served: readonly ServedPart[] = [];
  /** What the request is about, a tag of `choosing/task-tags.ts`; absent: nobody looked. */
  taskType: string | undefined;
  /** The plugin that chose the models; absent: the caller did. */
  router: string | undefined;
  /** The model that would have answered without a router, at list price. */
  comparedWith: { readonly model: string; readonly price: PriceTable } | undefined;
  /** What the router's choice saved against that model, its own questions to models included; negative: what it cost more. Nano-USD. */
  savedNanoUsd: number | undefined;
  upstreamId: string | undefined;
  /** The generation whose answer was given again. */
  cacheSourceId: string | undefined;
  firstTokenMs: number | undefined;
  usage: Usage | undefined;
  end: EndEvent | undefined;
  failure: UpstreamFailure | undefined;
  error: GatewayError | undefined;
  cancelled = false;
  /** Bytes of text, reasoning and tool input that came, as UTF-8: for an estimate when no usage did. */
  answerBytes = 0;
  /** Keeps what the answer says, where its workspace may want that; the only text of the answer that a record holds. */
  capture: AnswerCapture | undefined;
  /** Pictures, sounds and the like in the answer. */
  answerMedia = 0;
  /** Bytes of the answer so far that whoever answers now was given with the request. */
  givenBytes = 0;
  /**
   * What the account owes for all parts together, as `usage` is once the generation has ended. For calls on the caller's
   * own credentials the total holds nothing; what the provider charges for prompt and completion is told all the same.
   */
  cost: Cost | undefined;
  /** What calls on the caller's own credentials would have cost, nano-USD. `undefined`: there were none, or nobody knows. */
  listNanoUsd: number | undefined;
  readonly #clock: Clock;

  constructor(options: {
    readonly id: string;
    /** Of the request that this one serves; absent: it serves none. */
    readonly requestId?: string | undefined;
    readonly request: GenerationRequest;
    readonly asker: Asker;
    readonly endUserId: string;
    readonly requested: string;
    readonly arrivedMs: number;
    readonly clock: Clock;
  }) {
    this.id = options.id;
    this.requestId = options.requestId ?? options.id;
    this.request = options.request;
    this.asker = options.asker;
    this.endUserId = options.endUserId;
    this.#clock = options.clock;
    this.createdMs = options.clock.nowMs();
    this.report = openRouteReport(options.requested, options.arrivedMs);
    this.warn(options.request.warnings);
  }

  warn(warnings: readonly Warning[]): void {
    for (const warning of warnings) {
      if (this.warnings.length < WARNINGS_MAX) this.warnings.push(warning);
      else this.warningsDropped++;
    }
  }

  openAttempt(
    candidate: { readonly endpoint: Endpoint; readonly credential?: { readonly label: string } },
    { expectedTokens, tokensMax }: Pick<Server, 'expectedTokens' | 'tokensMax'> = {},
  ): OpenAttempt {
    const { endpoint, credential } = candidate;
    const own = credential === undefined ? {} : { credential: credential.label };
    const startedMs = this.#clock.monotonicMs();
    let isSent = false;
    // Which attempt began the answer: those of later turns are no further ones.
    if (this.asked === undefined) this.report.attempt++;
    const close = (answered: number | null, status: number): void => {
      const { provider, providerName, model } = endpoint;
      const latencyMs = Math.round(this.#clock.monotonicMs() - startedMs);
      this.attempts.push({ provider, providerName, model, status: answered, latencyMs, ...own });
      this.report.attempts.push({ provider: providerName, model, status, ...own });
    };
    const isByok = credential !== undefined;
    const server = (): Server => ({ endpoint, isByok, attempt: this.attempts.length, expectedTokens, tokensMax });
    return {
      warn: (warnings) => this.warn(warnings),
      sent: () => void (isSent = true),
      commit: () => {
        this.failure = undefined;
        if (this.serving !== undefined) this.#leave(this.serving);
        else if (this.firstTokenMs === undefined) this.#begin(endpoint);
        this.serving = server();
        this.report.isByok ||= this.serving.isByok;
        close(200, 200);
      },
      fail: (failure) => {
        this.failure = failure;
        if (isSent && failure.kind === 'aborted') this.#abandon(server());
        close(failure.upstreamStatus ?? null, failure.upstreamStatus ?? failure.status);
      },
    };
  }

  /** An answer that an endpoint gave before is given again: nobody is asked, and nothing is used. */
  repeat(sourceId: string, endpoint: Endpoint): void {
    this.cacheSourceId = sourceId;
    this.endpoint = endpoint;
    this.firstTokenMs = this.#clock.monotonicMs();
    this.usage = { ...NO_USAGE, estimated: false };
  }

  #begin(endpoint: Endpoint): void {
    this.endpoint = endpoint;
    this.firstTokenMs = this.#clock.monotonicMs();
    this.report.selected = this.report.available.findIndex(
      (other) => other.provider === endpoint.providerName && other.model === endpoint.model,
    );
  }

  #abandon(server: Server): void {
    this.abandoned = server;
    this.endpoint ??= server.endpoint;
    this.report.isByok ||= server.isByok;
  }

  /** The model's turn has come to its end, and another one follows. */
  endTurn(): void {
    if (this.serving !== undefined) this.#leave(this.serving, { isOver: true });
    this.serving = undefined;
  }

  /** @param server who gave the answer until now */
  #leave(server: Server, outcome: { readonly isOver?: true } = {}): void {
    const { usage, answerBytes, givenBytes, asked } = this;
    this.earlierParts.push({ ...server, usage, answerBytes, givenBytes, asked, ...outcome });
    this.usage = undefined;
    this.answerBytes = 0;
    this.givenBytes = 0;
  }

  /** Marks the end, once: durations count to here. */
  finish(): void {
    this.report.endedMs ??= this.#clock.monotonicMs();
  }
}
