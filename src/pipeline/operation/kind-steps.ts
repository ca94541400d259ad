import type { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { FileOwner } from '../../canonical/tools/stored-files.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Inspection } from '../../content-filters/contract.ts';
import type { AnswerIdentity, FinalUsage } from '../../wire/format.ts';
import type { OpenRequest } from '../open-request.ts';
import type { StreamOutput } from '../response/sse-output.ts';
import type { CallCandidate, CallDeps, CandidateCall, Served } from './call-candidates.ts';
import type { AnswerWriter } from './operation-request.ts';

/** What the delivery of an operation works with. */
export interface DeliveryInput<Op extends Operation, Given extends object, Deps = CallDeps> {
  readonly open: OpenRequest<Op>;
  readonly served: Served<Given>;
  readonly writer: AnswerWriter;
  /** Of a stream of events, which keep-alives may have begun. Absent: the answer is none. */
  readonly output: StreamOutput | undefined;
  readonly deps: Deps;
}

/** The same, of a stream of events. */
export type EventDelivery<Op extends Operation, Given extends object, Deps = CallDeps> = DeliveryInput<
  Op,
  Given,
  Deps
> & {
  readonly output: StreamOutput;
};

/** Events come where the caller wants them, and there alone. */
export function asEvents<Op extends Operation, Given extends object, Deps>(
  input: DeliveryInput<Op, Given, Deps>,
): EventDelivery<Op, Given, Deps> {
  const { output } = input;
  assert(output !== undefined, 'what comes in events has an output for them');
  return { ...input, output };
}

/** What a step that takes time may use of its request. */
export interface StepScope {
  /** The workspace whose files the request may name. */
  readonly owner: FileOwner;
  /** Aborts when the request is over. */
  readonly signal: AbortSignal;
  /** What it ends is open from now on, until the request is over. */
  readonly defer: (end: () => void) => void;
}

/** The most that an operation may come to at one endpoint. */
export interface WorstUse {
  readonly usage: Usage;
  /** Reserved beside what the usage costs. Nano-USD. */
  readonly moreNanoUsd: number;
}

/** How what a candidate gave is kept, to be given again. */
export interface GivenCache<Op extends Operation, Given> {
  /** `undefined`: it is too large. */
  serialize(given: Given): string | undefined;
  /** `undefined`: it cannot be read. */
  parse(text: string, operation: Op): Given | undefined;
}

/** What filters of answers look through. */
export interface AnswerTexts<Given> {
  /** All of it, where it comes as it is made; why it broke off, where it does. */
  whole(given: Given): Promise<{ readonly given: Given } | { readonly failure: UpstreamFailure }>;
  texts(given: Given): readonly string[];
  /** Without what was found, by the places of its texts. */
  redact(given: Given, redacted: Inspection['redacted']): Given;
}

/** In what one kind of operations differs from the others: everything else is the same for all of them. */
export interface KindSteps<Op extends Operation, Given extends object, Deps extends CallDeps = CallDeps> {
  /** What content filters look through. */
  texts(operation: Op): readonly string[];
  /** With these in the place of its texts, one for each; none: nothing of them is kept. */
  withTexts(operation: Op, texts: readonly string[]): Op;
  /** Why filters cannot read it, as an error at a member; absent, and `undefined`: they can. */
  unreadable?(operation: Op): { readonly path: string; readonly message: string } | undefined;
  /** Fetches what the request names, before it is routed. Absent: nothing. @throws GatewayError */
  prepare?(deps: Deps, operation: Op, scope: StepScope): Promise<Op>;
  /** What it counts against rate limits by tokens. */
  promptTokens(operation: Op): number;
  /** By how much an estimate of its usage may be too low. Absent: it is exact. */
  margin?(operation: Op): number;
  /** The most that it may use at an endpoint. Absent: what the operation says. */
  readonly worst?: (usage: Usage, endpoint: Endpoint, operation: Op) => WorstUse;
  /** Whether a client that sends it again by itself may be paid for twice. */
  readonly isPaidEachTime?: boolean;
  /** Its streams of events, which stay open while nothing comes. Absent: it has none. */
  readonly events?: {
    /** Whether the answer is to be one. */
    isWanted(operation: Op): boolean;
    /** How one ends that fails. */
    encodeFailure(error: GatewayError): string;
  };
  call(deps: Deps, call: CandidateCall<Op>): ReturnType<CallCandidate<Op, Given>>;
  /** As the upstream counted so far. */
  usageOf(given: Given, served: { readonly operation: Op; readonly served: Served<Given> }): Usage;
  upstreamIdOf?(given: Given): string | undefined;
  /** For filters of answers. Absent: it gives no text. */
  readonly answer?: AnswerTexts<Given>;
  /** Absent: its answers are not given again. */
  readonly cache?: GivenCache<Op, Given>;
  /** Sends the answer, and settles before its end leaves. @throws GatewayError in place of an answer */
  deliver(input: DeliveryInput<Op, Given, Deps>): Promise<void>;
}

/** Sends an answer that is a whole, in JSON. Nothing leaves before the charge is durable. */
export function answerWith<Op extends Operation, Given extends object>(
  encode: (given: Given, identity: AnswerIdentity, finalUsage: FinalUsage, request: Op) => readonly Uint8Array[],
): KindSteps<Op, Given>['deliver'] {
  return async ({ open, served, writer }) => {
    open.facts.meter.end = { type: 'end', finish: 'stop' };
    await open.settle().durable;
    const identity = announce(writer, open, served);
    const { request } = open.facts.log;
    await writer.answerPieces(identity.id, encode(served.given, identity, open.finalUsage(), request));
  };
}

/** Names the provider in a header, for answers that have no room for it. */
export function announce(
  writer: AnswerWriter,
  { facts: { log } }: { readonly facts: { readonly log: { readonly id: string } } },
  { candidate: { endpoint } }: Pick<Served<object>, 'candidate'>,
): AnswerIdentity {
  writer.announce({ 'x-provider': encodeURI(endpoint.providerName) });
  return { id: log.id, model: endpoint.model, provider: endpoint.providerName };
}
