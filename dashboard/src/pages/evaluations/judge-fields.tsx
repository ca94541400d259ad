import type { ReactElement } from 'react';
import type { Schemas } from '../../api/client.ts';
import type { ApiError } from '../../api/errors.ts';
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx';
import { issueFor } from '../../parts/form.tsx';
import { formatCount } from '../../parts/money.ts';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

const WAYS = [
  { value: 'none', label: 'none' },
  { value: 'scale', label: 'on a scale' },
  { value: 'reference', label: 'against responses of another model' },
] as const;
const SCALE = { isRequired: true, isWhole: true, min: 2, max: 10 } as const;

export interface JudgeDraft {
  readonly way: (typeof WAYS)[number]['value'];
  readonly model: string;
  readonly rubric: string;
  readonly scale: string;
  readonly reference: string;
  readonly mayJudgeItself: boolean;
}

export const NO_JUDGE: JudgeDraft = {
  way: 'none',
  model: '',
  rubric: '',
  scale: '5',
  reference: '',
  mayJudgeItself: false,
};

/** As the API takes it; nothing without a judge. */
export function judgeOf(draft: JudgeDraft): { readonly judge?: Schemas['NewEvaluationJudge'] } {
  const { way, model, rubric, scale, reference, mayJudgeItself } = draft;
  if (way === 'none') return {};
  return {
    judge: {
      model: model.trim(),
      rubric,
      ...(way === 'reference'
        ? { reference_model: reference.trim() }
        : { scale: parseNumber(scale, SCALE) ?? Number(NO_JUDGE.scale) }),
      ...(mayJudgeItself && { allow_self_judge: true }),
    },
  };
}

/** A model that reads answers where nothing is expected, or a line wants it. */
export function JudgeFields({
  judge,
  judgedItems,
  error,
  onChange,
}: {
  readonly judge: JudgeDraft;
  /** Of the dataset that is chosen; `undefined`: not known yet. */
  readonly judgedItems: number | undefined;
  readonly error: ApiError | null;
  readonly onChange: (judge: JudgeDraft) => void;
}): ReactElement {
  const { way } = judge;
  const set = (patch: Partial<JudgeDraft>): void => onChange({ ...judge, ...patch });
  const issue = (field: string): string | undefined => issueFor(error, `judge.${field}`);
  return (
    <>
      <Select
        label="Judge"
        options={WAYS}
        value={way}
        hint={
          judgedItems === undefined
            ? 'For questions without an expected answer.'
            : judgedItems === 0
              ? 'No question of this dataset needs one.'
              : `${formatCount(judgedItems)} questions of this dataset need one.`
        }
        error={error?.issues.find(({ path }) => path === 'judge')?.message}
        onChange={(next) => set({ way: next })}
      />
      {way !== 'none' && (
        <fieldset className="flex flex-col gap-3 rounded-md border border-line p-3">
          <legend className="px-1 text-xs font-medium text-dim">How it judges</legend>
          <TextField
            label="Model that judges"
            value={judge.model}
            required
            spellCheck={false}
            placeholder="author/slug"
            error={issue('model')}
            onChange={(event) => set({ model: event.target.value })}
          />
          {way === 'reference' ? (
            <TextField
              label="Model of reference"
              value={judge.reference}
              required
              spellCheck={false}
              placeholder="author/slug"
              hint="It responds to each question, too. A score above 0.5 says that a model is better than it."
              error={issue('reference_model')}
              onChange={(event) => set({ reference: event.target.value })}
            />
          ) : (
            <NumberField
              label="Levels of the scale"
              {...SCALE}
              value={judge.scale}
              error={issue('scale')}
              onChange={(scale) => set({ scale })}
            />
          )}
          <TextArea
            label="What makes a response good"
            value={judge.rubric}
            required
            rows={3}
            error={issue('rubric')}
            onChange={(event) => set({ rubric: event.target.value })}
          />
          <Checkbox
            label="It may be one of the models"
            hint="Models favour their own answers; the results say so."
            checked={judge.mayJudgeItself}
            onChange={(event) => set({ mayJudgeItself: event.target.checked })}
          />
        </fieldset>
      )}
    </>
  );
}
