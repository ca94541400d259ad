import type { Model } from '../../../catalog/model.ts';

/**
 * A model as Codex's list has it. It refuses the whole list for one record that lacks a member, so each has all of them.
 * @source openai/codex, protocol crate, `ModelInfo`, read 2026-11
 */
export interface CodexModel {
  readonly slug: string;
  readonly [member: string]: unknown;
}

/** Its records of its own author's models, which it brings along, are better. */
const AUTHOR_KNOWN = 'openai/';
const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh'];
const DEFAULT_EFFORT = 'medium';
/** Tokens of one tool's output; the rest is cut by Codex. */
const OUTPUT_TOKENS_MAX = 10_000;
const CONTEXT_PERCENT = 95;

/** @param instructions what Codex says to such a model of itself */
export function codexModels(models: readonly Model[], instructions: string): readonly CodexModel[] {
  return models
    .filter(
      ({ slug, outputModalities }) => !slug.startsWith(AUTHOR_KNOWN) && (outputModalities?.includes('text') ?? true),
    )
    .map((model, priority) => codexModel(model, priority, instructions));
}

function codexModel(model: Model, priority: number, instructions: string): CodexModel {
  const efforts = effortsOf(model);
  const context = model.contextTokensMax ?? null;
  return {
    slug: model.slug,
    display_name: model.name,
    description: model.description ?? null,
    default_reasoning_level: efforts.includes(DEFAULT_EFFORT) ? DEFAULT_EFFORT : (efforts[0] ?? null),
    supported_reasoning_levels: efforts.map((effort) => ({ effort, description: `Reasoning effort: ${effort}` })),
    shell_type: 'shell_command',
    visibility: 'list',
    supported_in_api: true,
    priority,
    additional_speed_tiers: [],
    service_tiers: [],
    availability_nux: null,
    upgrade: null,
    base_instructions: instructions,
    supports_reasoning_summaries: model.reasoning !== undefined,
    default_reasoning_summary: 'auto',
    support_verbosity: takesParameter(model, 'verbosity'),
    default_verbosity: null,
    apply_patch_tool_type: 'freeform',
    web_search_tool_type: 'text',
    truncation_policy: { mode: 'tokens', limit: OUTPUT_TOKENS_MAX },
    supports_parallel_tool_calls: takesParameter(model, 'parallel_tool_calls'),
    supports_image_detail_original: false,
    context_window: context,
    max_context_window: context,
    auto_compact_token_limit: null,
    effective_context_window_percent: CONTEXT_PERCENT,
    experimental_supported_tools: [],
    input_modalities: sharedInputs(model),
    supports_search_tool: false,
    use_responses_lite: false,
  };
}

/** From the least on, as Codex shows them. */
function effortsOf({ reasoning }: Model): readonly string[] {
  if (reasoning === undefined) return [];
  const { supportedEfforts = ['low', 'medium', 'high'] } = reasoning;
  return EFFORTS.filter((effort) => supportedEfforts.includes(effort));
}

/** What an endpoint that says nothing takes is unknown, and so is whether it refuses it. */
function takesParameter({ supportedParameters, endpoints }: Model, parameter: string): boolean {
  return endpoints.every((endpoint) => {
    const known = endpoint.supportedParameters ?? (supportedParameters && new Set(supportedParameters));
    return known?.has(parameter) === true;
  });
}

/** Those that every endpoint takes, of the two that Codex knows. */
function sharedInputs(model: Model): readonly string[] {
  const taken = (modality: string): boolean =>
    model.endpoints.every((endpoint) =>
      (endpoint.inputModalities ?? model.inputModalities ?? ['text']).includes(modality),
    );
  return taken('image') ? ['text', 'image'] : ['text'];
}
