import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';

const JSON_PROVIDERS: ReadonlySet<string> = new Set(['amazon-bedrock', 'google-vertex', 'azure']);

/** Sends a credential to be sealed: it is never shown again, here or anywhere. */
export function BringCredential({
  providers,
  isOpen,
  onClose,
}: {
  readonly providers: readonly { readonly slug: string; readonly name: string }[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [provider, setProvider] = useState('openai');
  const [key, setKey] = useState('');
  const [name, setName] = useState('');
  const [isFallback, setIsFallback] = useState(false);
  const body = { provider, key, ...(name !== '' && { name }), ...(isFallback && { is_fallback: true }) };
  const create = useChange(
    (credential: Schemas['CreateByokKeyRequest']) => client.POST('/byok', { body: credential }),
    onClose,
  );
  return (
    <FormDialog
      title="Bring a credential"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Seal and keep it"
      request={{ method: 'POST', path: '/byok', body: { ...body, key: '…' } }}
    >
      <Select
        label="Provider"
        value={provider}
        options={providers.map(({ slug, name: label }) => ({ value: slug, label }))}
        error={issueFor(create.error, 'provider')}
        onChange={setProvider}
      />
      {JSON_PROVIDERS.has(provider) ? (
        <TextArea
          label="Credential, as JSON"
          rows={5}
          className="font-mono text-xs"
          spellCheck={false}
          value={key}
          error={issueFor(create.error, 'key')}
          hint="docs/byok.md has the fields of this provider"
          onChange={(event) => setKey(event.target.value)}
        />
      ) : (
        <TextField
          label="API key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={key}
          error={issueFor(create.error, 'key')}
          onChange={(event) => setKey(event.target.value)}
        />
      )}
      <TextField
        label="Name"
        placeholder="Research"
        value={name}
        error={issueFor(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <Checkbox
        label="Only after the gateway's own credential has failed"
        checked={isFallback}
        onChange={(event) => setIsFallback(event.target.checked)}
      />
    </FormDialog>
  );
}
