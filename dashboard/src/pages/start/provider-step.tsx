import { useState, type FormEvent, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useCall, useChange } from '../../api/read.ts';
import { Button, To } from '../../parts/button.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { issueFor } from '../../parts/form.tsx';
import { CheckResult } from '../../parts/check-result.tsx';

const PROVIDERS = [
  { value: 'openai', label: 'OpenAI' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'google', label: 'Google AI Studio' },
  { value: 'groq', label: 'Groq' },
  { value: 'mistral', label: 'Mistral' },
  { value: 'deepseek', label: 'DeepSeek' },
  { value: 'xai', label: 'xAI' },
] as const;

/** A key of a provider, checked where the gateway can, then sealed. */
export function ProviderStep(): ReactElement {
  const [provider, setProvider] = useState<string>('openai');
  const [key, setKey] = useState('');
  const test = useCall(() => client.POST('/byok/test', { body: { provider, key } }));
  const save = useChange(
    (body: Schemas['CreateByokKeyRequest']) => client.POST('/byok', { body }),
    () => setKey(''),
  );
  const send = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate({ provider, key, workspace_id: null });
  };
  return (
    <form onSubmit={send} className="flex flex-col gap-3">
      <p className="text-dim">
        It is sealed in the database and never shown again. A provider is also enabled by its variable, such as{' '}
        <code className="font-mono text-xs">OPENAI_API_KEY</code>, when the gateway starts. Without any provider the
        sandbox responds. <To to="/ui/providers">All providers</To>
      </p>
      <div className="grid items-start gap-3 sm:grid-cols-[200px_minmax(0,1fr)_auto]">
        <Select
          label="Provider"
          options={PROVIDERS}
          value={provider}
          error={issueFor(save.error, 'provider')}
          onChange={setProvider}
        />
        <TextField
          label="API key"
          type="password"
          spellCheck={false}
          value={key}
          error={issueFor(save.error, 'key') ?? save.error?.message}
          onChange={(event) => setKey(event.target.value)}
        />
        <div className="flex gap-2 sm:pt-5">
          <Button disabled={key === '' || test.isPending} onClick={() => test.mutate(undefined)}>
            {test.isPending ? 'Checking …' : 'Check'}
          </Button>
          <Button type="submit" look="primary" disabled={key === '' || save.isPending}>
            Keep it
          </Button>
        </div>
      </div>
      <CheckResult of={test} />
      {save.isSuccess && (
        <p aria-live="polite" className="text-good">
          It is kept.
        </p>
      )}
    </form>
  );
}
