/** @spec fusion-2 */
export const ANALYSIS_MODELS_MAX = 8;
export const TOOL_CALLS_MAX = 16;
export const TOOLS_MAX = 8;

/** @spec fusion-2 */
export const FUSION_PRESETS = ['general-high', 'general-budget', 'general-fast'] as const;
export type FusionPresetName = (typeof FUSION_PRESETS)[number];

/** The panel and the analyst where nobody says anything. @spec fusion-3 */
export const FUSION_PRESET_DEFAULT: FusionPresetName = 'general-high';

/** Slugs and aliases that may take one place, first choice first: which of them can be asked depends on the gateway. */
export type FusionSlot = readonly string[];

export interface FusionPreset {
  readonly panel: readonly FusionSlot[];
  /** Compares the answers of the panel, and where the model asked for is a fusion slug writes the final answer. */
  readonly analyst: FusionSlot;
}

export type FusionPresets = Readonly<Record<FusionPresetName, FusionPreset>>;
