import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useKeys } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

type Body = Schemas['CreateClassifierRequest'];
type Template = NonNullable<Body['template']>;

const TEMPLATES: readonly { readonly value: Template; readonly label: string }[] = [
  { value: 'department', label: 'department' },
  { value: 'audience', label: 'audience' },
  { value: 'engineering_work', label: 'kind of engineering work' },
  { value: 'agent_complexity', label: 'complexity of an agent’s task' },
  { value: 'capitalizable_expense', label: 'expense that can be capitalized' },
];
const SHARE_RULES = { isRequired: true, min: 0, max: 100 } as const;

/** A classifier of one of the templates; its prompt and its dimensions can be changed over the API. */
export function NewClassifier({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [form, setForm] = useState({ name: '', model: '', payer: '', share: '10', limit: '1', isOn: true });
  const [template, setTemplate] = useState<Template>('department');
  const set = (patch: Partial<typeof form>): void => setForm({ ...form, ...patch });
  const payers = (useKeys(isOpen).data ?? []).filter(({ disabled }) => !disabled);
  const payer = payers.find(({ hash }) => hash === form.payer) ?? payers[0];
  const body: Body = {
    name: form.name,
    model: form.model,
    payer_key_hash: payer?.hash ?? '',
    // The key that pays is one of the workspace that is read.
    ...(typeof payer?.workspace_id === 'string' && { workspace_id: payer.workspace_id }),
    template,
    sampling_rate: (parseNumber(form.share, SHARE_RULES) ?? 10) / 100,
    daily_cost_limit_usd: parseNumber(form.limit) ?? 1,
    enabled: form.isOn,
  };
  const create = useChange((classifier: Body) => client.POST('/classifiers', { body: classifier }), onClose);
  const issue = (field: string): string | undefined => issueFor(create.error, field);
  return (
    <FormDialog
      title="New classifier"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Make classifier"
      isReady={payer !== undefined}
      request={{ method: 'POST', path: '/classifiers', body }}
    >
      <TextField
        label="Name"
        required
        autoFocus
        value={form.name}
        error={issue('name')}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label="Model that reads"
        hint="A model on your own machine, or a free one, costs nothing."
        required
        value={form.model}
        placeholder="acme/small"
        error={issue('model')}
        onChange={({ target }) => set({ model: target.value })}
      />
      <Select label="Sorts by" value={template} options={TEMPLATES} error={issue('template')} onChange={setTemplate} />
      {payers.length === 0 ? (
        <p role="note" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          Make a key first: its workspace is read, and it pays.
        </p>
      ) : (
        <Select
          label="Key that pays, of the workspace that is read"
          value={payer?.hash ?? ''}
          options={payers.map(({ hash, name }) => ({ value: hash, label: name }))}
          error={issue('payer_key_hash')}
          onChange={(hash) => set({ payer: hash })}
        />
      )}
      <NumberField
        label="Share of conversations, in percent"
        {...SHARE_RULES}
        value={form.share}
        error={issue('sampling_rate')}
        onChange={(share) => set({ share })}
      />
      <NumberField
        label="Most that it may cost a day, USD"
        isRequired
        value={form.limit}
        error={issue('daily_cost_limit_usd')}
        onChange={(limit) => set({ limit })}
      />
      <Checkbox
        label="Begin at once"
        hint="Of a workspace one classifier can be on."
        checked={form.isOn}
        onChange={({ target }) => set({ isOn: target.checked })}
      />
    </FormDialog>
  );
}
