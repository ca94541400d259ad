import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import type { Secret } from './columns.tsx';

/** Seals a value under a name. It is never shown again, here or anywhere. */
export function SecretForm({
  scope,
  secret,
  isOpen,
  onClose,
}: {
  /** A workspace, or `operator`. */
  readonly scope: string;
  /** The one that gets another value; absent: a new one. */
  readonly secret?: Secret;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [name, setName] = useState(secret?.name ?? '');
  const [isOutside, setIsOutside] = useState((secret?.external ?? null) !== null);
  const [value, setValue] = useState(secret?.external ?? '');
  const [hosts, setHosts] = useState(secret?.hosts?.join('\n') ?? '');
  const body = {
    ...(isOutside ? { external: value } : { value }),
    hosts: hosts.split(/[\s,]+/).filter((host) => host !== ''),
  };
  const query = { workspace_id: scope };
  const save = useChange(
    (input: typeof body) => client.PUT('/vault/secrets/{name}', { params: { path: { name }, query }, body: input }),
    onClose,
  );
  return (
    <FormDialog
      title={secret === undefined ? 'New secret' : `Another value for “${secret.name}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={save}
      input={body}
      submit="Seal and keep it"
      request={{
        method: 'PUT',
        path: `/vault/secrets/${encodeURIComponent(name)}?workspace_id=${scope}`,
        body: isOutside ? body : { ...body, value: '…' },
      }}
    >
      {secret === undefined && (
        <TextField
          label="Name"
          value={name}
          required
          spellCheck={false}
          placeholder="alpha_key"
          hint="Lower-case letters, digits and single underscores. An equal name gets this value."
          error={issueFor(save.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <Checkbox
        label="The back end has the value already"
        hint="Of vault.backend: the gateway reads it there when it is needed."
        checked={isOutside}
        onChange={(event) => {
          setIsOutside(event.target.checked);
          setValue('');
        }}
      />
      {isOutside ? (
        <TextField
          label="Place"
          value={value}
          required
          spellCheck={false}
          placeholder="team/alpha#key"
          hint="A path and a field, or a file."
          error={issueFor(save.error, 'external')}
          onChange={(event) => setValue(event.target.value)}
        />
      ) : (
        <TextField
          label="Value"
          type="password"
          autoComplete="new-password"
          value={value}
          required
          error={issueFor(save.error, 'value')}
          hint="It counts with the next call that needs it, without a restart."
          onChange={(event) => setValue(event.target.value)}
        />
      )}
      <TextArea
        label="Hosts"
        rows={3}
        required
        className="font-mono text-xs"
        spellCheck={false}
        value={hosts}
        placeholder="api.alpha.example"
        hint="One a line: exact names, without scheme and port. It is sent nowhere else."
        error={
          issueFor(save.error, 'hosts') ?? save.error?.issues.find(({ path }) => path.startsWith('hosts['))?.message
        }
        onChange={(event) => setHosts(event.target.value)}
      />
    </FormDialog>
  );
}
