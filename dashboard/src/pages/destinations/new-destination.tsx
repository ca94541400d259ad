import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';

const TYPES = [
  { value: 'otel-collector', label: 'OpenTelemetry, spans' },
  { value: 'otel-metrics', label: 'OpenTelemetry, metrics' },
  { value: 'webhook', label: 'Webhook' },
] as const;

/** A destination of one of the kinds, with its address and headers. */
export function NewDestination({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [type, setType] = useState<string>('otel-collector');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [headers, setHeaders] = useState('');
  const [isPrivate, setIsPrivate] = useState(true);
  const pairs = Object.fromEntries(
    headers
      .split('\n')
      .flatMap((line) =>
        line.includes(':') ? [[line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]] : [],
      ),
  );
  const config = {
    [type === 'webhook' ? 'url' : 'endpoint']: url,
    ...(Object.keys(pairs).length > 0 && { headers: pairs }),
  };
  const body = { type, name, config, privacy_mode: isPrivate };
  const create = useChange(
    (destination: Schemas['CreateObservabilityDestinationRequest']) =>
      client.POST('/observability/destinations', { body: destination }),
    onClose,
  );
  const shown = {
    ...body,
    config: {
      ...config,
      ...('headers' in config && { headers: Object.fromEntries(Object.keys(pairs).map((header) => [header, '…'])) }),
    },
  };
  return (
    <FormDialog
      title="New destination"
      isOpen={isOpen}
      onClose={onClose}
      change={create}
      input={body}
      submit="Make destination"
      request={{ method: 'POST', path: '/observability/destinations', body: shown }}
    >
      <Select label="Kind" options={TYPES} value={type} error={issueFor(create.error, 'type')} onChange={setType} />
      <TextField
        label="Name"
        value={name}
        placeholder="Collector"
        error={issueFor(create.error, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label="Address"
        type="url"
        value={url}
        error={issueFor(create.error, 'endpoint') ?? issueFor(create.error, 'url')}
        onChange={(event) => setUrl(event.target.value)}
      />
      <TextArea
        label="Headers, one a line"
        rows={2}
        className="font-mono text-xs"
        placeholder="Authorization: Bearer …"
        value={headers}
        error={issueFor(create.error, 'headers')}
        hint="their values are sealed and never shown again"
        onChange={(event) => setHeaders(event.target.value)}
      />
      <Checkbox
        label="Never content"
        hint="Records go without prompts and responses, whatever the workspace keeps."
        checked={isPrivate}
        onChange={(event) => setIsPrivate(event.target.checked)}
      />
    </FormDialog>
  );
}
