import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { uploadDataset } from '../../api/files.ts';
import { useKeys } from '../../api/lists.ts';
import { useChange, useList } from '../../api/read.ts';
import { Select, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { formatCount } from '../../parts/money.ts';
import { NumberField } from '../../parts/number-field.tsx';
import { JudgeFields, judgeOf, NO_JUDGE } from './judge-fields.tsx';

const NEW_FILE = '';
const COST_USD = '1';

/** Begins a run: over a dataset that is stored, or a file that is stored first. */
export function NewRun({
  isOpen,
  onClose,
  onBegun,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onBegun: (id: string) => void;
}): ReactElement {
  const [form, setForm] = useState({ dataset: NEW_FILE, name: '', models: '', payer: '', cost: COST_USD });
  const [judge, setJudge] = useState(NO_JUDGE);
  const [file, setFile] = useState<File>();
  const set = (change: Partial<typeof form>): void => setForm((before) => ({ ...before, ...change }));
  const datasets = useList(
    ['evaluation-datasets'],
    (window, signal) => client.GET('/benchmarks/datasets', { signal, params: { query: window } }),
    { enabled: isOpen },
  );
  const keys = useKeys(isOpen);
  const payers = (keys.data ?? []).filter(({ disabled }) => !disabled);
  const payer = form.payer === '' ? (payers[0]?.hash ?? '') : form.payer;
  const stored = datasets.data?.items ?? [];
  const judged = stored.find(({ id }) => id === form.dataset)?.judged_items;
  const body = {
    models: form.models.split(/[\s,]+/).filter((model) => model !== ''),
    payer_key_hash: payer,
    max_cost_usd: Number(form.cost),
    ...judgeOf(judge),
  };
  const begin = useChange(
    async () => {
      const isNew = form.dataset === NEW_FILE;
      const dataset = isNew && file !== undefined ? await uploadDataset(file, form.name) : form.dataset;
      // A second try needs no second upload.
      set({ dataset });
      return client.POST('/benchmarks/runs', { body: { ...body, dataset_id: dataset } });
    },
    (made) => {
      if (made !== undefined && 'data' in made) onBegun(made.data.id);
    },
  );
  return (
    <FormDialog
      title="New run"
      isOpen={isOpen}
      onClose={onClose}
      change={begin}
      input={undefined}
      submit="Begin"
      request={{ method: 'POST', path: '/benchmarks/runs', body: { dataset_id: form.dataset, ...body } }}
    >
      <Select
        label="Dataset"
        value={form.dataset}
        options={[
          { value: NEW_FILE, label: 'A new file' },
          ...stored.map(({ id, name, items, sha256 }) => ({
            value: id,
            label: `${name} ${sha256.slice(0, 8)} (${formatCount(items)} items)`,
          })),
        ]}
        onChange={(dataset) => set({ dataset })}
      />
      {form.dataset === NEW_FILE && <NewFile name={form.name} onFile={setFile} onName={(name) => set({ name })} />}
      <TextArea
        label="Models"
        hint="One a line."
        required
        rows={3}
        value={form.models}
        error={issueFor(begin.error, 'models')}
        onChange={({ target }) => set({ models: target.value })}
      />
      <JudgeFields judge={judge} judgedItems={judged} error={begin.error} onChange={setJudge} />
      <Select
        label="Key that pays"
        value={payer}
        options={payers.map(({ hash, name }) => ({ value: hash, label: name }))}
        error={issueFor(begin.error, 'payer_key_hash')}
        onChange={(hash) => set({ payer: hash })}
      />
      <NumberField label="Most that it may cost, USD" isRequired value={form.cost} onChange={(cost) => set({ cost })} />
    </FormDialog>
  );
}

/** A dataset that is stored before the run begins. */
function NewFile({
  name,
  onFile,
  onName,
}: {
  readonly name: string;
  readonly onFile: (file: File | undefined) => void;
  readonly onName: (name: string) => void;
}): ReactElement {
  return (
    <>
      <TextField
        label="File"
        hint="One JSON object a line: prompt, expected."
        type="file"
        accept=".jsonl,.json"
        required
        onChange={({ target }) => onFile(target.files?.[0])}
      />
      <TextField
        label="Name of the dataset"
        required
        pattern="[a-z0-9][a-z0-9\-]{0,63}"
        title="Lower-case letters, digits and hyphens"
        value={name}
        onChange={({ target }) => onName(target.value)}
      />
    </>
  );
}
