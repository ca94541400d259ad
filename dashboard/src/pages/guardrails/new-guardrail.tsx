import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';
import { TryIt } from './try-it.tsx';

type Slug = NonNullable<Schemas['Guardrail']['content_filter_builtins']>[number]['slug'];
const SLUGS: readonly Slug[] = [
  'email',
  'phone',
  'ssn',
  'credit-card',
  'ip-address',
  'person-name',
  'address',
  'regex-prompt-injection',
];
const ACTIONS = [
  { value: 'redact', label: 'redact' },
  { value: 'block', label: 'block' },
  { value: 'flag', label: 'flag' },
] as const;
type Action = (typeof ACTIONS)[number]['value'];

interface Draft {
  readonly name: string;
  readonly slugs: readonly Slug[];
  readonly action: Action;
  readonly pattern: string;
  readonly models: string;
  readonly isZdr: boolean;
  readonly limit: string;
}
const EMPTY: Draft = { name: '', slugs: [], action: 'redact', pattern: '', models: '', isZdr: false, limit: '' };

/** A guardrail of the usual parts; each can be changed afterwards. */
export function NewGuardrail({
  workspaceId,
  isOpen,
  onClose,
}: {
  readonly workspaceId: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [draft, setDraft] = useState(EMPTY);
  const body = { ...toBody(draft), workspace_id: workspaceId };
  const create = useChange(
    (guardrail: Schemas['CreateGuardrailRequest']) => client.POST('/guardrails', { body: guardrail }),
    onClose,
  );
  const set = (patch: Partial<Draft>): void => setDraft({ ...draft, ...patch });
  const issue = (field: string): string | undefined => issueFor(create.error, field);
  return (
    <FormDialog
      title="New guardrail"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Make guardrail"
      request={{ method: 'POST', path: '/guardrails', body }}
    >
      <TextField
        label="Name"
        autoFocus
        value={draft.name}
        error={issue('name')}
        onChange={(event) => set({ name: event.target.value })}
      />
      <fieldset>
        <legend className="pb-1 text-xs font-medium text-dim">Look for</legend>
        <div className="grid grid-cols-2">
          {SLUGS.map((slug) => (
            <Checkbox
              key={slug}
              label={slug}
              checked={draft.slugs.includes(slug)}
              onChange={(event) =>
                set({
                  slugs: event.target.checked ? [...draft.slugs, slug] : draft.slugs.filter((other) => other !== slug),
                })
              }
            />
          ))}
        </div>
      </fieldset>
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="A pattern of yours"
          className="font-mono text-xs"
          placeholder="project-\d+"
          value={draft.pattern}
          error={issue('content_filters')}
          onChange={(event) => set({ pattern: event.target.value })}
        />
        <Select
          label="What is found is"
          options={ACTIONS}
          value={draft.action}
          onChange={(action) => set({ action })}
        />
        <TextField
          label="Only these models"
          placeholder="all"
          value={draft.models}
          error={issue('allowed_models')}
          hint="slugs, with commas between them"
          onChange={(event) => set({ models: event.target.value })}
        />
        <NumberField
          label="Limit in USD a month"
          placeholder="none"
          value={draft.limit}
          error={issue('limit_usd')}
          hint="each key and member"
          onChange={(limit) => set({ limit })}
        />
      </div>
      <Checkbox
        label="Zero data retention is demanded"
        checked={draft.isZdr}
        onChange={(event) => set({ isZdr: event.target.checked })}
      />
      <details>
        <summary className="inline-flex h-7 items-center text-xs text-dim hover:text-text">
          Try these rules before they are saved
        </summary>
        <TryIt run={(trial) => client.POST('/guardrails/test', { body: { ...trial, ...rulesOf(draft) } })} />
      </details>
    </FormDialog>
  );
}

function toBody({ name, slugs, action, pattern, models, isZdr, limit }: Draft): Schemas['CreateGuardrailRequest'] {
  const usd = parseNumber(limit);
  return {
    name,
    ...rulesOf({ slugs, action, pattern, models, isZdr }),
    ...(usd !== undefined && { limit_usd: usd, reset_interval: 'monthly' as const }),
  };
}

/** What of a guardrail is tried on a text. */
function rulesOf({
  slugs,
  action,
  pattern,
  models,
  isZdr,
}: Omit<Draft, 'name' | 'limit'>): Omit<Schemas['TestRulesRequest'], keyof Schemas['TestGuardrailRequest']> {
  const allowed = models
    .split(',')
    .map((model) => model.trim())
    .filter(Boolean);
  return {
    ...(slugs.length > 0 && { content_filter_builtins: slugs.map((slug) => ({ slug, action })) }),
    ...(pattern !== '' && { content_filters: [{ pattern, action }] }),
    ...(allowed.length > 0 && { allowed_models: allowed }),
    ...(isZdr && { enforce_zdr: true }),
  };
}
