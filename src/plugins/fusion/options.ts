import { z } from 'zod';
import { ANALYSIS_MODELS_MAX, FUSION_PRESETS, TOOL_CALLS_MAX, TOOLS_MAX } from '../../canonical/tools/fusion.ts';

/** What the plugin puts among the tools. */
export const FUSION_TOOL = 'service:fusion';

/** @spec fusion-2 */
export const fusionOptions = z.object({
  /** The panel. Absent: the preset's, else the default one of three. */
  analysis_models: z.array(z.string().min(1)).min(1).max(ANALYSIS_MODELS_MAX).optional(),
  /** Analyst and author of the final answer. Absent: the preset's, else the first of the default panel. */
  model: z.string().min(1).optional(),
  /** Steps of each panelist, and of the analyst. Absent: 4. */
  max_tool_calls: z.int().min(1).max(TOOL_CALLS_MAX).optional(),
  preset: z.enum(FUSION_PRESETS).optional(),
  /** Absent: web search and web fetch. Empty: none. */
  tools: z
    .array(
      z.object({
        type: z
          .string()
          .regex(/^service:/, 'must be a server tool, such as "service:web_search"')
          .refine((type) => type !== FUSION_TOOL, 'must not be a panel itself'),
        parameters: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .max(TOOLS_MAX)
    .optional(),
});
