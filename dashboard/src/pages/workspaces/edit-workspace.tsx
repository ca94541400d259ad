import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import type { Workspace } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';

/** Changes the defaults of a workspace. Only what differs is sent. */
export function EditWorkspace({
  workspace,
  isOpen,
  onClose,
}: {
  readonly workspace: Workspace;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState(workspace.name);
  const [model, setModel] = useState(workspace.default_text_model ?? '');
  const [isKept, setIsKept] = useState(workspace.is_observability_io_logging_enabled);
  const [share, setShare] = useState(String(workspace.io_logging_sampling_rate * 100));
  const rate = (parseNumber(share) ?? 0) / 100;
  const body: Schemas['UpdateWorkspaceRequest'] = {
    ...(name !== workspace.name && { name }),
    ...(model !== (workspace.default_text_model ?? '') && { default_text_model: model === '' ? null : model }),
    ...(isKept !== workspace.is_observability_io_logging_enabled && { is_observability_io_logging_enabled: isKept }),
    ...(isKept && rate !== workspace.io_logging_sampling_rate && { io_logging_sampling_rate: rate }),
  };
  const change = useChange(
    (patch: Schemas['UpdateWorkspaceRequest']) =>
      client.PATCH('/workspaces/{id}', { params: { path: { id: workspace.id } }, body: patch }),
    onClose,
  );
  const issue = (field: string): string | undefined => issueFor(change.error, field);
  return (
    <FormDialog
      title={`Change “${workspace.name}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={change}
      input={body}
      submit="Change"
      isReady={Object.keys(body).length > 0}
      request={{ method: 'PATCH', path: `/workspaces/${workspace.id}`, body }}
    >
      <TextField label="Name" value={name} error={issue('name')} onChange={(event) => setName(event.target.value)} />
      <TextField
        label="Model of requests that name none"
        placeholder="none"
        value={model}
        error={issue('default_text_model')}
        onChange={(event) => setModel(event.target.value)}
      />
      <Checkbox
        label="Keep content"
        hint="Prompts and responses of its keys are stored, sealed, and can be read here until they end. Each reading is in the audit log."
        checked={isKept}
        onChange={(event) => setIsKept(event.target.checked)}
      />
      {isKept && (
        <NumberField
          label="Of how many requests, in percent"
          isRequired
          min={0}
          max={100}
          value={share}
          error={issue('io_logging_sampling_rate')}
          onChange={setShare}
        />
      )}
    </FormDialog>
  );
}
