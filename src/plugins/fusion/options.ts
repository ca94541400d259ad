import { z } from 'zod';

/** seed 8 "fusion". */
const ANALYSIS_MODELS_MAX = 8;
const TOOL_CALLS_MAX = 16;
const TOOLS_MAX = 8;

/** @source seed 2.2 "Fusion rules" */
export const fusionOptions = z.object({
  /** The panel. Absent: the preset's, else the default one of three. */
  analysis_models: z.array(z.string().min(1)).min(1).max(ANALYSIS_MODELS_MAX).optional(),
  /** Analyst and author of the final answer. Absent: the preset's, else the first of the default panel. */
  model: z.string().min(1).optional(),
  /** Steps of each panelist, and of the analyst. Absent: 4. */
  max_tool_calls: z.int().min(1).max(TOOL_CALLS_MAX).optional(),
  preset: z.enum(['general-high', 'general-budget', 'general-fast']).optional(),
  /** Absent: web search and web fetch. Empty: none. */
  tools: z
    .array(z.object({ type: z.string().min(1), parameters: z.record(z.string(), z.unknown()).optional() }))
    .max(TOOLS_MAX)
    .optional(),
});
