import type { z } from 'zod';
import { FUSION_PRESET_DEFAULT, type FusionPresetName } from '../../canonical/tools/fusion.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest, ServerTool, Tool } from '../../canonical/request.ts';
import { choosePanel, forPanel, type ChosenPanel } from '../../model-selection/fusion-panel.ts';
import { assert } from '../../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { Plugin } from '../contract.ts';
import { FUSION_TOOL, fusionOptions } from './options.ts';

const SLUG = 'service/fusion';
/** The panel of the fast preset, unless the request names another. @spec fusion-3 */
const FLASH_SLUG = 'service/fusion-flash';
const FLASH_PRESET: FusionPresetName = 'general-fast';

type Options = z.output<typeof fusionOptions>;

/**
 * Offers the panel to the model as a tool, and selects that model for the plugin's own slugs.
 * @spec fusion-4
 */
export const fusion = {
  id: 'fusion',
  summary: 'Has several models respond, and one write the response from all of theirs.',
  options: fusionOptions,
  slugs: [SLUG, FLASH_SLUG],
  chooseModels(request, slug, options, { abilities: { choice } }) {
    assert(choice !== undefined, 'a router gets a model choice in its context');
    const name = presetOf(options, slug) ?? FUSION_PRESET_DEFAULT;
    const choose = (from: GenerationRequest): ChosenPanel =>
      choosePanel(name, choice.settings.fusion[name], {
        ...choice.candidatePool(from),
        resolve: (other) => choice.resolve(other),
      });
    // The model that writes the response has to call the panel.
    const author = options.model ?? choose(withPanel(request, options, slug)).analyst;
    if (author === undefined) throw absent(slug);
    const { analysis_models: named } = options;
    const details = (): JsonObject =>
      named === undefined ? { preset: name, panel: choose(forPanel(request)).panel } : { panel: named };
    choice.decided({ router: 'fusion', strategy: 'fusion', chosen: [author], details });
    return Promise.resolve([author + suffixesOf(slug)]);
  },
  transformRequest(request, options, context) {
    // A panel starts no panel, whatever the account's defaults.
    return Promise.resolve(context.isNested === true ? request : withPanel(request, options, context.slug));
  },
} satisfies Plugin<typeof fusionOptions>;

function presetOf({ preset }: Options, slug: string | undefined): FusionPresetName | undefined {
  return preset ?? (slug !== undefined && baseOf(slug) === FLASH_SLUG ? FLASH_PRESET : undefined);
}

function baseOf(slug: string): string {
  const colon = slug.indexOf(':');
  return colon < 0 ? slug : slug.slice(0, colon);
}

/** `:nitro` of the slug applies to the model that writes the response. */
function suffixesOf(slug: string): string {
  return slug.slice(baseOf(slug).length);
}

function absent(slug: string): GatewayError {
  return new GatewayError(
    'not_found',
    `${slug}: no model of the panel is available; name one in the plugin's "model".`,
    {
      availability: { code: 'constraint_filtered', retryable: false, requestedModels: [slug] },
    },
  );
}

/** What the caller says in an entry of its own counts before what the plugin says. */
function withPanel(request: GenerationRequest, options: Options, slug: string | undefined): GenerationRequest {
  const parameters = parametersOf(options, presetOf(options, slug));
  const own = request.tools.find(isPanel);
  const tools: readonly Tool[] =
    own === undefined
      ? [...request.tools, { type: 'server', name: FUSION_TOOL, parameters }]
      : request.tools.map((tool) =>
          tool === own ? { ...own, parameters: { ...parameters, ...own.parameters } } : tool,
        );
  return { ...request, tools };
}

function isPanel(tool: Tool): tool is ServerTool {
  return tool.type === 'server' && tool.name === FUSION_TOOL;
}

function parametersOf({ preset: _asked, ...options }: Options, preset: FusionPresetName | undefined): JsonObject {
  const parameters: unknown = { ...options, ...(preset !== undefined && { preset }) };
  assert(isJsonObject(parameters), 'what came as JSON is JSON');
  return parameters;
}
