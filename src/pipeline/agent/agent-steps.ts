import type { Principal } from '../../accounts/principal.ts';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../../canonical/directives.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { FunctionTool, GenerationRequest, ServerTool, Settings, Turn } from '../../canonical/request.ts';
import type { GenerateNested, NestedResponse } from '../../canonical/tools/nested-generation.ts';
import { functionNameOf } from '../../canonical/tools/server-call.ts';
import { newGenerationId } from '../../lib/ids.ts';
import { parseJsonObject, type JsonObject } from '../../lib/json.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { failedOutcome, type ToolOutcome } from '../../tools/contract.ts';
import type { ClientFormat } from '../../wire/format.ts';
import { admit } from '../admission/admit.ts';
import { readCallerRules } from '../admission/caller-rules.ts';
import type { GenerateDeps } from '../generate.ts';
import { OpenRequest } from '../open-request.ts';
import type { Generate, IncomingRequest } from '../request.ts';
import { resolveModels } from '../route/resolve-models.ts';
import { createGenerateNested } from '../server-tools/nested-generation.ts';
import { offerServerTools, type OfferedTools } from '../server-tools/offer-server-tools.ts';
import { readyTools, runTool, type ReadyTool } from '../server-tools/run-tools.ts';

/** A function of the agent's own, beside the server tools. It may be run again after a crash, and needs no approval. */
export interface AgentFunction {
  /** Like that of a server tool, from which its name follows. */
  readonly type: `service:${string}`;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** @throws GatewayError that the model reads */
  run(input: JsonObject, step: number): Promise<JsonObject>;
}

/** An agent whose steps are run one by one, outside of any request. */
export interface AgentInput {
  /** Names the run in the records of its generations. */
  readonly runId: string;
  /** Pays, and has the rules. */
  readonly principal: Principal;
  /** Empty: the default model. */
  readonly models: readonly string[];
  readonly tools: readonly ServerTool[];
  /** Of its calls of the model. */
  readonly settings?: Settings;
  /** What of it is about privacy holds for all that it runs. */
  readonly provider?: ProviderPreferences;
  readonly functions?: readonly AgentFunction[];
  readonly signal: AbortSignal;
}

export interface AgentCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON text. */
  readonly input: string;
}

/** What a call of a tool left. */
export interface AgentOutcome {
  readonly outcome: ToolOutcome;
  /** With that of the models that it called. */
  readonly costNanoUsd: number;
}

export interface AgentCallLimits {
  readonly step: number;
  readonly budgetNanoUsd: number;
}

export interface OpenAgent {
  /** The server tool behind a function; `undefined`: there is no such function. */
  find(name: string): Pick<ReadyTool['tool'], 'type' | 'onlyReads'> | undefined;
  /** @throws GatewayError 400 or 404 for a model that there is not */
  checkModel(): Promise<void>;
  /**
   * Calls the model.
   * @param onCost is given what it cost, also where it fails. @throws GatewayError as for a request; 402 where the budget is
   * too little
   */
  ask(turns: readonly Turn[], budgetNanoUsd: number, onCost: (nanoUsd: number) => void): Promise<NestedResponse>;
  /**
   * Runs one call. An error of the tool is an outcome.
   * @param budgetNanoUsd of its fee, and of the models that it calls. @throws GatewayError 402 where its fee is more, or cannot
   * be reserved
   */
  run(call: AgentCall, turns: readonly Turn[], limits: AgentCallLimits): Promise<AgentOutcome>;
}

/** @throws GatewayError 400, 403 for tools that the agent cannot have */
export type OpenAgentSteps = (input: AgentInput) => Promise<OpenAgent>;

export interface AgentDeps {
  readonly generateDeps: GenerateDeps;
  readonly generate: Generate;
  readonly format: ClientFormat;
}

/**
 * Runs single calls of models and tools for an agent that keeps what comes of them: each call of a model is a generation of
 * its own, with limits, guardrails and a record.
 */
export function createAgentSteps(deps: AgentDeps): OpenAgentSteps {
  const { generateDeps } = deps;
  return async (input) => {
    const { runId, principal, models, settings = {}, functions: own = [], signal } = input;
    const ownByName = new Map(own.map((each) => [functionNameOf(each.type), each]));
    const request = requestOf(input);
    const offered = await offer(generateDeps, request, input);
    // Of the call under way: an agent makes one at a time.
    let budgetLeft: () => number | undefined = () => undefined;
    const tools = readyTools(offered, {
      principal,
      model: () => models[0] ?? '',
      nowMs: () => generateDeps.clock.nowMs(),
      monotonicMs: () => generateDeps.clock.monotonicMs(),
      abilities: generateDeps.toolAbilities,
      budgetNanoUsd: () => budgetLeft(),
      note: () => undefined,
    });
    const parent: IncomingRequest = { id: runId, request, principal, arrivedMs: generateDeps.clock.monotonicMs() };
    const nested = () => nestedOf(deps, parent, signal);
    const functions = [...offered.request.tools.filter((tool) => tool.type === 'function'), ...declared(ownByName)];
    return {
      find(name) {
        const type = ownByName.get(name)?.type;
        return type === undefined ? tools.get(name)?.tool : { type, onlyReads: () => true };
      },
      async checkModel() {
        const { policy } = await readCallerRules(generateDeps, principal);
        resolveModels(request, policy.defaultModel ?? generateDeps.defaults.model, generateDeps.catalog);
      },
      async ask(turns, budgetNanoUsd, onCost) {
        const { run, cost } = nested();
        try {
          return await run({ models, turns, tools: functions, settings, budgetNanoUsd }, signal);
        } finally {
          onCost(cost());
        }
      },
      async run(call, turns, { step, budgetNanoUsd }) {
        const mine = ownByName.get(call.name);
        if (mine !== undefined) return { outcome: await runOwn(mine, call, step), costNanoUsd: 0 };
        const tool = tools.get(call.name);
        if (tool === undefined) return { outcome: UNKNOWN_TOOL, costNanoUsd: 0 };
        if (tool.feeNanoUsdMax > budgetNanoUsd)
          throw new GatewayError('payment_required', `A call of ${call.name} may cost more than is left for this run.`);
        const inside = nested();
        const left = () => Math.max(0, budgetNanoUsd - tool.feeNanoUsdMax - inside.cost());
        budgetLeft = left;
        const act = () =>
          runTool(
            tool,
            { ...call, shownId: call.id },
            {
              turn: step,
              turns,
              signal,
              generate: within(inside.run, left),
              traceHeaders: () => ({}),
              onBug: (error) => generateDeps.onBug(error, runId),
            },
          );
        const outcome = await chargeFee(generateDeps, { parent, tool }, act);
        return { outcome, costNanoUsd: (outcome.feeNanoUsd ?? 0) + inside.cost() };
      },
    };
  };
}

function declared(own: ReadonlyMap<string, AgentFunction>): readonly FunctionTool[] {
  return [...own].map(([name, { description, parameters }]) => ({ type: 'function', name, description, parameters }));
}

async function runOwn(own: AgentFunction, { input }: AgentCall, step: number): Promise<ToolOutcome> {
  try {
    return { result: await own.run(parseJsonObject(input) ?? {}, step) };
  } catch (error) {
    if (error instanceof GatewayError) return failedOutcome(error.message, 'invalid_tool_input');
    throw error;
  }
}

/** Generations of one step, with what they cost. */
function nestedOf(
  { generate, generateDeps: { clock }, format }: AgentDeps,
  parent: IncomingRequest,
  signal: AbortSignal,
) {
  const log: Pick<RequestLog, 'nestedRuns'> = { nestedRuns: [] };
  const run = createGenerateNested({ generate, clock }, parent, {
    log,
    format,
    cancellation: { signal },
    follow: () => undefined,
  });
  return { run, cost: () => log.nestedRuns.reduce((sum, { cost }) => sum + (cost?.totalNanoUsd ?? 0), 0) };
}

/** Bounds the cost of each generation by what is left when it begins. */
function within(run: GenerateNested, left: () => number): GenerateNested {
  return (sent, signal) =>
    run({ ...sent, budgetNanoUsd: Math.min(sent.budgetNanoUsd ?? Number.MAX_SAFE_INTEGER, left()) }, signal);
}

const UNKNOWN_TOOL: ToolOutcome = { result: { status: 'error', error: 'There is no such tool.' }, failed: true };

function requestOf({ models, tools, provider = DEFAULT_PREFERENCES }: AgentInput): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns: [],
    tools,
    settings: {},
    directives: {
      models,
      provider,
      plugins: [],
      echoUpstreamBody: false,
      serviceMetadata: false,
      betas: [],
    },
    warnings: [],
  };
}

async function offer(
  deps: GenerateDeps,
  request: GenerationRequest,
  { principal, signal }: AgentInput,
): Promise<OfferedTools> {
  const offered = await offerServerTools(deps, request, { endpointsOf: () => [], principal, cancellation: { signal } });
  if (offered === undefined) return { request, originalRequest: request, entries: [], hidden: new Map(), warnings: [] };
  const served = new Set(offered.entries.map(({ index }) => index));
  const missing = request.tools.findIndex((_tool, index) => !served.has(index));
  if (missing >= 0)
    throw invalid(`tools[${missing}].type`, 'is a tool that its caller runs, which an agent has none of');
  return offered;
}

/** Reserves the fee of a call, and records what came of it under an id of its own. Without a fee it only acts. */
async function chargeFee(
  deps: GenerateDeps,
  { parent, tool }: { readonly parent: IncomingRequest; readonly tool: ReadyTool },
  act: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (tool.feeNanoUsdMax === 0) return act();
  const { principal, request } = parent;
  const rules = await admit(deps, principal);
  const arrived = {
    id: newGenerationId(deps.clock.nowMs()),
    requestId: parent.id,
    request,
    principal,
    arrivedMs: deps.clock.monotonicMs(),
  };
  const open = new OpenRequest(deps, arrived, { onGone: () => undefined });
  const { log } = open.facts;
  try {
    deps.takeRoom();
    log.hasRoom = true;
    await open.reservation.further.fund(rules.limits, tool.feeNanoUsdMax);
    const outcome = await act();
    const { feeNanoUsd = 0, searches = 0, fetches = 0, failed = false } = outcome;
    log.serverTools = {
      turns: 0,
      requested: 1,
      executed: 1,
      failed: failed ? 1 : 0,
      searches,
      fetches,
      feeNanoUsd,
      webFeeNanoUsd: searches + fetches > 0 ? feeNanoUsd : 0,
    };
    await open.settle().durable;
    return outcome;
  } finally {
    await open.close();
  }
}
