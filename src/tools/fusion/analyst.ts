import { z } from 'zod';
import type { ResponseFormat } from '../../canonical/request.ts';
import { isJsonObject, parseJson, type JsonObject } from '../../lib/json.ts';
import type { Reply } from './call-model.ts';

const names = z.array(z.string());

/** @spec fusion-8, fusion-11; `@openrouter/sdk` 1.3.19, `FusionAnalysisResult` */
const analysis = z.object({
  consensus: z.array(z.string()),
  contradictions: z.array(
    z.object({ topic: z.string(), stances: z.array(z.object({ model: z.string(), stance: z.string() })) }),
  ),
  partial_coverage: z.array(z.object({ models: names, point: z.string() })),
  unique_insights: z.array(z.object({ model: z.string(), insight: z.string() })),
  blind_spots: z.array(z.string()),
});

/** Why there is no analysis. @spec fusion-8, fusion-11 */
export type AnalystFault =
  | 'judge_not_valid_json'
  | 'judge_schema_mismatch'
  | 'judge_upstream_error'
  | 'judge_empty_completion';

export type Verdict =
  | { readonly analysis: JsonObject }
  | {
      readonly fault: AnalystFault;
    };

/** What the analyst's answer is to look like, where its endpoint can bind it to that. */
export const ANALYSIS_FORMAT: ResponseFormat = {
  type: 'json_schema',
  name: 'fusion_analysis',
  schema: formatSchema(),
  strict: true,
};

function formatSchema(): JsonObject {
  const { $schema: _dialect, ...formatted }: Readonly<Record<string, unknown>> = z.toJSONSchema(analysis);
  return isJsonObject(formatted) ? formatted : {};
}

export function readVerdict({ error, text }: Reply): Verdict {
  if (error !== undefined) return { fault: 'judge_upstream_error' };
  if (text === '') return { fault: 'judge_empty_completion' };
  const value = parseJson(text) ?? parseJson(outermostObject(text));
  if (value === undefined) return { fault: 'judge_not_valid_json' };
  const read = analysis.safeParse(value);
  return read.success ? { analysis: read.data } : { fault: 'judge_schema_mismatch' };
}

/** Some put a fence or a sentence around it all the same. */
function outermostObject(text: string): string {
  return text.slice(Math.max(0, text.indexOf('{')), text.lastIndexOf('}') + 1);
}
