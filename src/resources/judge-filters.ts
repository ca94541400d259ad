import { z } from 'zod';
import type { JudgeFilter } from '../canonical/guardrail-rules.ts';
import { jsonValue } from './columns.ts';

const JUDGES_MAX = 8;
const MODEL_CHARS_MAX = 256;
const QUESTION_CHARS_MAX = 2_000;
const LABEL_CHARS_MAX = 100;
/** Below it the other answer is the likelier one. */
const THRESHOLD_MIN = 0.5;

const action = z.enum(['block', 'flag']);
const onError = z.enum(['block', 'allow']);

/** @spec filter-24 */
const sentSchema = z
  .array(
    z
      .strictObject({
        model: z.string().min(1).max(MODEL_CHARS_MAX).describe('The model that judges.'),
        question: z
          .string()
          .min(1)
          .max(QUESTION_CHARS_MAX)
          .describe('A question about the conversation that "yes" or "no" answers.'),
        threshold: z
          .number()
          .min(THRESHOLD_MIN)
          .max(1)
          .optional()
          .describe('It matches from this probability of "yes" on. Default: 0.5.'),
        action: action.describe('`flag` notes a match, `block` refuses the request.'),
        on_error: onError
          .optional()
          .describe('Without a verdict in time. Default: `block` for the action `block`, else `allow`.'),
        label: z.string().min(1).max(LABEL_CHARS_MAX).nullable().optional().describe('Its name in messages.'),
      })
      .meta({ id: 'JudgeFilter' }),
  )
  .max(JUDGES_MAX)
  .nullable();

const shownSchema = z
  .array(
    z
      .strictObject({
        model: z.string(),
        question: z.string(),
        threshold: z.number(),
        action,
        on_error: onError,
        label: z.string().nullable(),
      })
      .meta({ id: 'StoredJudgeFilter' }),
  )
  .nullable();

/** Questions that a model answers about each request. Rows of before there were any have none. */
export const judgeFilters = {
  ...jsonValue(
    z
      .array(
        z.strictObject({
          model: z.string(),
          question: z.string(),
          threshold: z.number(),
          action,
          onError,
          label: z.string().nullable(),
        }),
      )
      .readonly()
      .nullable()
      .default(null),
  ),
  set: sentSchema,
  shown: shownSchema,
  parse: (sent: z.output<typeof sentSchema>): readonly JudgeFilter[] | null =>
    sent &&
    sent.map((filter) => ({
      model: filter.model,
      question: filter.question,
      threshold: filter.threshold ?? THRESHOLD_MIN,
      action: filter.action,
      onError: filter.on_error ?? (filter.action === 'block' ? 'block' : 'allow'),
      label: filter.label ?? null,
    })),
  serialize: (filters: readonly JudgeFilter[] | null): z.output<typeof shownSchema> =>
    filters && filters.map(({ onError: on_error, ...filter }) => ({ ...filter, on_error })),
};
