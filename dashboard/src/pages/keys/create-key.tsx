import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { DAYS_AHEAD, parseNumber } from '../../parts/number-text.ts';

interface Draft {
  readonly name: string;
  readonly limit: string;
  readonly reset: '' | 'daily' | 'weekly' | 'monthly';
  readonly days: string;
  readonly workspace: string;
}

const EMPTY: Draft = { name: '', limit: '', reset: 'monthly', days: '', workspace: '' };
const RESETS = [
  { value: 'daily', label: 'every day' },
  { value: 'weekly', label: 'every week' },
  { value: 'monthly', label: 'every month' },
  { value: '', label: 'never' },
] as const;
const DAY_MS = 86_400_000;

/** Makes a key, then shows it in full, once. The key is never kept in the cache of reads. */
export function CreateKey({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [draft, setDraft] = useState(EMPTY);
  const [secret, setSecret] = useState<{ readonly name: string; readonly key: string }>();
  const create = useChange(
    (body: Schemas['CreateKeyRequest']) => client.POST('/keys', { body }),
    (made) => {
      if (made !== undefined) setSecret({ name: made.data.name, key: made.key });
      setDraft(EMPTY);
      onClose();
    },
  );
  const body = toBody(draft);
  return (
    <>
      <FormDialog
        title="New key"
        isOpen={isOpen}
        onClose={() => {
          create.reset();
          onClose();
        }}
        change={create}
        input={body}
        submit="Make key"
        request={{ method: 'POST', path: '/keys', body }}
      >
        <Fields
          draft={draft}
          onChange={(patch) => setDraft({ ...draft, ...patch })}
          issue={(field) => issueFor(create.error, field)}
        />
      </FormDialog>
      <ShowOnce secret={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

function Fields({
  draft,
  onChange,
  issue,
}: {
  readonly draft: Draft;
  readonly onChange: (patch: Partial<Draft>) => void;
  readonly issue: (field: string) => string | undefined;
}): ReactElement {
  const workspaces = useWorkspaces();
  return (
    <>
      <TextField
        label="Name"
        value={draft.name}
        autoFocus
        placeholder="my laptop"
        error={issue('name')}
        onChange={(event) => onChange({ name: event.target.value })}
      />
      <div className="grid grid-cols-2 gap-3">
        <NumberField
          label="Limit in USD"
          placeholder="no limit"
          value={draft.limit}
          error={issue('limit')}
          onChange={(limit) => onChange({ limit })}
        />
        <Select
          label="Spend counts anew"
          options={RESETS}
          value={draft.reset}
          error={issue('limit_reset')}
          onChange={(reset) => onChange({ reset })}
        />
        <NumberField
          label="Ends after days"
          {...DAYS_AHEAD}
          placeholder="never"
          value={draft.days}
          error={issue('expires_at')}
          onChange={(days) => onChange({ days })}
        />
        <Select
          label="Workspace"
          options={[
            { value: '', label: 'default' },
            ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={draft.workspace}
          error={issue('workspace_id')}
          onChange={(workspace) => onChange({ workspace })}
        />
      </div>
    </>
  );
}

function toBody({ name, limit, reset, days, workspace }: Draft): Schemas['CreateKeyRequest'] {
  const usd = parseNumber(limit);
  const endsInDays = parseNumber(days, DAYS_AHEAD);
  return {
    name,
    ...(usd !== undefined && { limit: usd, limit_reset: reset === '' ? null : reset }),
    ...(endsInDays !== undefined && { expires_at: new Date(Date.now() + endsInDays * DAY_MS).toISOString() }),
    ...(workspace !== '' && { workspace_id: workspace }),
  };
}

function ShowOnce({
  secret,
  onClose,
}: {
  readonly secret: { readonly name: string; readonly key: string } | undefined;
  readonly onClose: () => void;
}): ReactElement {
  const [isKept, setIsKept] = useState(false);
  const close = (): void => {
    setIsKept(false);
    onClose();
  };
  return (
    <Dialog title={`The key “${secret?.name ?? ''}”`} isOpen={secret !== undefined} onClose={() => isKept && close()}>
      <div className="flex flex-col gap-3">
        <p>This is the only time that the key is shown. The gateway keeps its hash alone.</p>
        <CodeBlock label="The new key" text={secret?.key ?? ''} isWrapped />
        <CodeBlock
          label="A first call"
          text={`curl -s ${location.origin}/v1/chat/completions \\\n  -H "Authorization: Bearer $GATEWAY_API_KEY" -H 'Content-Type: application/json' \\\n  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'`}
        />
        <Checkbox label="I have kept it" checked={isKept} onChange={(event) => setIsKept(event.target.checked)} />
        <div className="flex justify-end">
          <Button look="primary" disabled={!isKept} onClick={close}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
