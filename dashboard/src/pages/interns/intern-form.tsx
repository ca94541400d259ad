import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';

/** Saves an agent, and provisions it. Rules of approval and limits are set by the API. */
export function InternForm({
  workspace,
  isOpen,
  onClose,
}: {
  readonly workspace: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState('');
  const [model, setModel] = useState('');
  const [instructions, setInstructions] = useState('');
  const [tools, setTools] = useState('');
  const [limit, setLimit] = useState('5');
  const [perRun, setPerRun] = useState('1');
  const body = {
    name,
    ...(model !== '' && { model }),
    instructions,
    tools: tools.split(/[\s,]+/).flatMap((type) => (type === '' ? [] : [{ type }])),
    budget: { limit_usd: Number(limit), interval: 'daily', per_run_usd: Number(perRun) } as const,
    provision: true,
    ...(workspace !== '' && { workspace_id: workspace }),
  };
  const create = useChange((input: typeof body) => client.POST('/interns', { body: input }), onClose);
  return (
    <FormDialog
      title="New intern"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Create and provision"
      request={{ method: 'POST', path: '/interns', body }}
    >
      <TextField
        label="Name"
        value={name}
        required
        maxLength={128}
        error={issueFor(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Model"
        value={model}
        placeholder="author/slug"
        hint="Empty: the default of the workspace."
        spellCheck={false}
        error={issueFor(create.error, 'model')}
        onChange={(event) => setModel(event.target.value)}
      />
      <TextArea
        label="Instructions"
        rows={4}
        value={instructions}
        error={issueFor(create.error, 'instructions')}
        onChange={(event) => setInstructions(event.target.value)}
      />
      <TextArea
        label="Tools"
        rows={2}
        className="font-mono text-xs"
        spellCheck={false}
        value={tools}
        placeholder="service:web_search"
        hint="Types of server tools, one a line."
        error={create.error?.issues.find(({ path }) => path.startsWith('tools['))?.message}
        onChange={(event) => setTools(event.target.value)}
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label="USD a day"
          type="number"
          min="0.01"
          step="any"
          required
          value={limit}
          error={issueFor(create.error, 'limit_usd')}
          onChange={(event) => setLimit(event.target.value)}
        />
        <TextField
          label="USD a run"
          type="number"
          min="0.01"
          step="any"
          required
          value={perRun}
          error={issueFor(create.error, 'per_run_usd')}
          onChange={(event) => setPerRun(event.target.value)}
        />
      </div>
    </FormDialog>
  );
}
