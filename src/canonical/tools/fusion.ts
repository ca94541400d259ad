/** @spec fusion-2 */
export const ANALYSIS_MODELS_MAX = 8;
export const TOOL_CALLS_MAX = 16;
export const TOOLS_MAX = 8;

/** @spec fusion-2 */
export const FUSION_PRESETS = ['general-high', 'general-budget', 'general-fast'] as const;
export type FusionPresetName = (typeof FUSION_PRESETS)[number];

/** The panel and the analyst of a request that names none. @spec fusion-3 */
export const FUSION_PRESET_DEFAULT: FusionPresetName = 'general-high';

/** Slugs and aliases that may take one place, first choice first: which of them are served depends on the gateway. */
export type FusionSlot = readonly string[];

export interface FusionPreset {
  readonly panel: readonly FusionSlot[];
  /** Compares the panel's responses. Where the requested model is a fusion slug, it also writes the final response. */
  readonly analyst: FusionSlot;
}

export type FusionPresets = Readonly<Record<FusionPresetName, FusionPreset>>;
