import { useState, type ReactElement } from 'react';
import { uploadDataset } from '../../api/files.ts';
import { useChange } from '../../api/read.ts';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';

/** Stores a file of questions; every line is checked. */
export function NewDataset({
  isOpen,
  onClose,
  onMade,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onMade: (id: string) => void;
}): ReactElement {
  const [file, setFile] = useState<File>();
  const [form, setForm] = useState({ name: '', license: '', citation: '' });
  const set = (change: Partial<typeof form>): void => setForm({ ...form, ...change });
  const store = useChange(
    async ({ name, ...about }: typeof form) => ({
      data: file === undefined ? undefined : await uploadDataset(file, name, about),
    }),
    (id) => id !== undefined && onMade(id),
  );
  return (
    <FormDialog
      title="New dataset"
      isOpen={isOpen}
      onClose={onClose}
      change={store}
      input={form}
      submit="Store"
      request={{
        method: 'POST',
        path: '/benchmarks/datasets (multipart/form-data)',
        body: { file: file?.name, ...form },
      }}
    >
      <TextField
        label="File"
        hint="One JSON object a line: prompt, expected. At most 50,000 lines and 100 MB."
        type="file"
        accept=".jsonl,.json"
        required
        onChange={({ target }) => setFile(target.files?.[0])}
      />
      <TextField
        label="Name"
        required
        pattern="[a-z0-9][a-z0-9\-]{0,63}"
        title="Lower-case letters, digits and hyphens"
        placeholder="support-tickets"
        value={form.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <TextField
        label="License (optional)"
        placeholder="CC-BY-4.0"
        value={form.license}
        onChange={({ target }) => set({ license: target.value })}
      />
      <TextField
        label="Citation (optional)"
        hint="Where the questions come from."
        value={form.citation}
        onChange={({ target }) => set({ citation: target.value })}
      />
    </FormDialog>
  );
}
